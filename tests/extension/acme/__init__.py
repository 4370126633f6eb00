"""What somebody else's distribution adds to Sluice: a masking method and a check."""
