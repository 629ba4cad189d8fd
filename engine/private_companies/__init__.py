"""Private companies: their income, their sales, and their abilities."""
