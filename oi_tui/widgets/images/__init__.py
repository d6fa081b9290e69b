"""Images in the terminal: Kitty, sixel, half blocks."""
