"""The service, its transports and the command line: the one place where the parts meet."""
