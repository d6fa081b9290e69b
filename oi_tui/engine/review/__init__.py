"""Review of code before it runs: what it does, and what may run without approval."""
