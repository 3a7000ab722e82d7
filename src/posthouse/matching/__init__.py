"""Does it match: one predicate, several languages that write it, two engines that judge by it."""
