"""What interrupts: discards, forced purchases, bankruptcy."""
