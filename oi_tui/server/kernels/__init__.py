"""Jupyter's kernels, for notebooks and other clients."""
