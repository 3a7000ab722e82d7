"""Rules on trial: their examples are run, what became of them is told in words, what can never fire is found."""
