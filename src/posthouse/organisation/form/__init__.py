"""The written forms of an organisation: its own, which is TOML, and the tables and directories it can be taken from."""
