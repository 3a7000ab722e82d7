"""The message patterns of scoped switching: as data, as text, and as predicates."""
