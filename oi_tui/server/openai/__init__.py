"""The protocols of OpenAI that the server speaks: chat completions and responses."""
