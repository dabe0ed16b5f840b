"""Exports that institutions ask for: the registry of deployments, packs of evidence, rows for spreadsheets.

Each module is imported when it is needed.
"""
