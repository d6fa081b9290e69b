"""Odd input, bad disks, kills and robots."""
