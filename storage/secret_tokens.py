"""Secrets that are sent by mail, and the hashes under which they are stored."""

import hashlib
import secrets

BASE32_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


def new_secret(length: int = 26) -> str:
    """A random secret in lower-case base32, 5 bits a character: mail programs that change case do no harm."""
    return "".join(secrets.choice(BASE32_ALPHABET) for _ in range(length))


def hash_secret(secret: str) -> str:
    """The hex SHA-256 of the secret's lower-case form: all that is stored of it."""
    return hashlib.sha256(secret.strip().lower().encode()).hexdigest()
