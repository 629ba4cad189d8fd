"""Mail: parsing, policy, composing, and real IMAP and SMTP servers."""
