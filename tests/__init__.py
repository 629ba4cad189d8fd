"""The tests of Railpost; folders are named after what they test."""
