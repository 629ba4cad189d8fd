"""Insolvency: cash crises, bankruptcies, and companies that close."""
