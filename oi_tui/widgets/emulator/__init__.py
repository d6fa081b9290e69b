"""A terminal emulator for programs that draw."""
