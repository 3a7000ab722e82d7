"""The company of the demo as data: who is who (`organisation.toml`) and what its rules say (`house.rules`)."""
