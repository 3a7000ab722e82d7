"""The written forms of a whole message, each in its own module: read and write are inverses in all of them."""
