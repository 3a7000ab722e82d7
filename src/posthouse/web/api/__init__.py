"""What programs ask an office over HTTP, version 1: messages in, messages out, and looking after it all."""
