"""Pages for people, and what programs ask over HTTP."""
