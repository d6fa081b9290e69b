"""Models: names, context windows, local servers, downloads."""
