"""Pages for whoever looks after the office: written by the server, one style sheet, no build step."""
