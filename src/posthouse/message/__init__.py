"""What travels: immutable values, the shared vocabulary of all floors above."""
