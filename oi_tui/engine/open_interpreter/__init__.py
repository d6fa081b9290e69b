"""Conversations, messages and profiles of Open Interpreter."""
