"""The system around the program: its environment, programs on PATH, and the desktop's opener."""
