"""The declarations of all settings, a file for each part of the profile."""
