"""Tables, variables and images."""
