"""The server: sessions over HTTP and WebSocket. Needs the extra `server`, and is imported only for it."""
