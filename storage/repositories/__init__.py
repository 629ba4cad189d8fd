"""The repositories of a unit of work: one for each kind of stored thing."""
