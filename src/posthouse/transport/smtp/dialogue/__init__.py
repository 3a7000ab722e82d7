"""What may be said after what, on both sides of a mail connection: bytes in, events out, no socket, no clock."""
