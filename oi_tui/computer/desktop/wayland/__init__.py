"""The desktop of Wayland compositors that offer the protocols of wlroots."""
