"""A scripted model, so that the first minute needs neither a key nor a network. It is not an AI."""
