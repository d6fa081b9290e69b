"""Languages that run on another machine, in a container or behind a command."""
