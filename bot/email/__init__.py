"""The table by mail: what the clerk asks of the service, and the letters that go out."""
