"""The approval panel."""
