"""The languages that write predicates: each parses and prints, none judges."""
