"""Ledgers in memory, on SQLite and on PostgreSQL that several tests use, and writers that are killed."""
