"""The office put together: settings, assembly, running."""
