"""Real terminal programs, and what of oi-tui works in each."""
