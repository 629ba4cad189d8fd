"""Reading emails: from bytes to a parsed mail, and from its text to reply lines with their intent."""
