"""Output of code as text for the model."""
