"""Who takes it: the places a message goes to."""
