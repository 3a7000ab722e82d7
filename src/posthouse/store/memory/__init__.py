"""The store that keeps everything in memory: for messages that ask for no more, for tests, and as plain truth."""
