"""The public test kit: builders of values with sensible defaults; nothing here touches disk, network or time."""
