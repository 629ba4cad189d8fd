"""The Discord client of the service against the fake Discord."""
