"""The subscription language of Elvin: read into predicates and printed again."""
