"""Screen, mouse and keyboard of this machine, behind one interface."""
