"""The explorer: one local page on which a methodologist tries roles, levels and a threshold on a file of their own."""
