"""The data that everything else is made of: state, events, actions, and the printed components of a title."""
