"""The interfaces beside the screen: the Python package, plain mode, server, protocols."""
