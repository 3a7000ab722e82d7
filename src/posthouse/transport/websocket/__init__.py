"""The network way of a program to its office: the frames of the control socket, carried by a WebSocket."""
