"""The sidebar: variables, changed files, context and cost."""
