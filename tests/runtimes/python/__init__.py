"""What Python does beyond the contract of all languages."""
