"""The numbered migrations of the SQLite store; a file, once released, never changes."""
