"""Screen, mouse, keyboard and clipboard: the tools, and the desktop that they use behind one interface."""
