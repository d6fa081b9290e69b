"""A second terminal for a session of a running server (`oi-tui --attach`)."""
