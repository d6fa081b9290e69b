"""The process that talks to language models, and the way its replies take to the application."""
