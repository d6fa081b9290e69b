"""One run of a language: its output, the active line, input it waits for, and its stop."""
