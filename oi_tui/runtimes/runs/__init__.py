"""One run on a language: its output, the line at work, input it waits for, and its stop."""
