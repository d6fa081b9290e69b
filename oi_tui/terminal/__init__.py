"""The terminal: driver, input and output filters, graphics, clipboard, notifications."""
