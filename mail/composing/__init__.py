"""Composing emails: pages as blocks, and from blocks to bytes, as text and as HTML."""
