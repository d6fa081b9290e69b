"""One language each."""
