"""The desk: what gatekeepers command, carried out; one file for each action, each giving what is to be written."""
