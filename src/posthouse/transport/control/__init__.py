"""The control socket: programs of the same user on the same machine reach a running office."""
