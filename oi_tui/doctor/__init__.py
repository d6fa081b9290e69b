"""Finds problems with the installation, the machine and the terminal, and says how to fix them."""
