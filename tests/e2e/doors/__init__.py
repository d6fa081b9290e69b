"""Every way in beside the screen."""
