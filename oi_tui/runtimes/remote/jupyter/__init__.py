"""Jupyter kernels as targets: one that runs already, and those of a Jupyter server or gateway."""
