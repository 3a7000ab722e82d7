"""Who is who: units, roles, users and groups, read from a book and asked as one snapshot."""
