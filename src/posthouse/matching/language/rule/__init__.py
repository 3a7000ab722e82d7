"""The rule language: what a compliance officer writes, `IF … THEN …`, with names, reasons and examples."""
