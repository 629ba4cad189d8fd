"""A position in words: questions, companies, the market and what a choice does. Pure functions of a state."""
