"""The conversation between a person, a model and a computer; knows no screen."""
