"""Offices hand messages to each other over HTTP: frames of many messages, each frame signed once."""
