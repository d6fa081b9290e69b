"""Actions that the full screen and plain mode share."""
