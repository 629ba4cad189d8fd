"""Money and shares: the market, ownership, sales of shares, loans, offers and auctions."""
