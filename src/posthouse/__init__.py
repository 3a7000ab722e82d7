"""A post office for people and programs; programs start at `posthouse.client`."""
