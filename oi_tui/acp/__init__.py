"""An agent for editors that speak the Agent Client Protocol. Needs the extra `acp`."""
