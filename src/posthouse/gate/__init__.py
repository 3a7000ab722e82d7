"""May it pass: what is refused, held and let through, decided without doing anything."""
