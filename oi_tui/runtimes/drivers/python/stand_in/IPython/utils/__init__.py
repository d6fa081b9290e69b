"""Small tools that the code of notebooks imports from IPython."""
