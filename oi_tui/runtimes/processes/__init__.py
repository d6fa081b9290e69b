"""The processes of languages: their terminal, their channel, and the system's table of processes."""
