"""How programs on this machine reach an open window of oi-tui: a socket that only its owner can use."""
