"""How a predicate names the parts of a message, what types they have, and how two values compare."""
