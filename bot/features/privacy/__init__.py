"""What is stored about a person: handed out, deleted, and kept no longer than the host has set."""
