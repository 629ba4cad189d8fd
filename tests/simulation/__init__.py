"""Random games and the invariants that hold in them."""
