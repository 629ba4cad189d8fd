"""The service: tables in memory, the lobby, moves, votes, plans and notifications. `service.Service` is its
facade."""
