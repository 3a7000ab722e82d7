"""Many predicates at once: what a message says finds the few that can be true of it, and `single` says of those."""
