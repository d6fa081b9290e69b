"""Mail, calendar, contacts and messages of the person."""
