"""Tables before their start: seats, robots, invitations, rematches."""
