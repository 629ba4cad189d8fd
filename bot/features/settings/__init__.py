"""What one person has set: channels, quiet hours, absence."""
