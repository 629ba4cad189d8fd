"""One message a day in place of many."""
