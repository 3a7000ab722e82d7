"""What Posthouse is measured against, each doing the same work on the same disk."""
