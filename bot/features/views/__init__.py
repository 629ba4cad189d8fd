"""A table read: the position and its log in words, as every transport asks for them."""
