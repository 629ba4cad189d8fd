"""The stock market."""
