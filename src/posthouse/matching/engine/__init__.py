"""The engines: `single` defines what is true, `indexed` says the same of very many predicates at once."""
