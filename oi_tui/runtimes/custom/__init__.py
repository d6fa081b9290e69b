"""Languages that users define."""
