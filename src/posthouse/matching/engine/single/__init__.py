"""The definition of truth: one predicate, one message, with leaves, reasons and offsets where they are asked for."""
