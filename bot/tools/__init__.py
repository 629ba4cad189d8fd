"""For those who develop Railpost: simulation, arena, benchmark."""
