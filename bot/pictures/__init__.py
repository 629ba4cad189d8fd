"""Which pictures go with a question or an answer, and the workers that draw them."""
