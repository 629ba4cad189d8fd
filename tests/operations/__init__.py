"""What the operator needs."""
