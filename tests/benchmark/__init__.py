"""`railpost bench`: what it measures and reports."""
