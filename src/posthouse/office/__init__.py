"""The post office: messages come in, are decided upon, kept, fetched and sent on."""
