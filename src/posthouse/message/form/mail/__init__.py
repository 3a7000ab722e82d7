"""Mail as it is found in the world: read by offsets, changed by nobody, refused never."""
