"""Tests of the pace of tables and of what people are told."""
