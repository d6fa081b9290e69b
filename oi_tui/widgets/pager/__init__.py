"""A pager for long text."""
