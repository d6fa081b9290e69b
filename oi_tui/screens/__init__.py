"""The full-screen views."""
