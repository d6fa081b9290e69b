"""The same session in plain lines: for screen readers, dumb terminals, pipes and logs."""
