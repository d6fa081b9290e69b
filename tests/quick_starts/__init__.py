"""Processes that start at once, for tests which are about something else."""
