"""The keys of vi for text areas."""
