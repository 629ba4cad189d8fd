"""Pace, deadlines and time out: clocks of seats, their timers and their commands."""
