"""Requests to the model: one gate, one process, errors, usage."""
