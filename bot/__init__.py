"""The application: the service, its transports (Discord, email, terminal) and the command line."""
