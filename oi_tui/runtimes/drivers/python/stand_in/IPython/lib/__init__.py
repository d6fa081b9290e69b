"""The parts of IPython that the code of notebooks imports by their names."""
