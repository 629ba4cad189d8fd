"""How a game begins: the sale of the privates."""
