"""The sandbox: isolation, limits, network proxy."""
