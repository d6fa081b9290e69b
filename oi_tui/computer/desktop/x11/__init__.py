"""The desktop of X11, through its C libraries."""
