"""What the operator needs: private files, backups, checks, and a look at the running service."""
