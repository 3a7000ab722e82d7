"""A predicate as data: its nodes, its written forms, and what is refused before it is used."""
