"""Tables, variables and pictures."""
