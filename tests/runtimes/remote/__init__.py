"""Languages on another machine."""
