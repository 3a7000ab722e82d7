"""What is kept: the ports of the store and its adapters."""
