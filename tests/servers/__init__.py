"""Model servers on 127.0.0.1 for tests: they speak the providers' formats, and misbehave on request."""
