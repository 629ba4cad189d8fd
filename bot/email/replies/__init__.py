"""What an email from a player says, read line by line."""
