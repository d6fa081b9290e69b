"""What is wrong with this installation or this machine, and how to put it right."""
