"""Sieve scripts (RFC 5228) read and made into rules, with a list of what could not be taken over and why."""
