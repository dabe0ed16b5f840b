"""The command line: demo, train, predict and price.

Thin: it reads files, calls the folders below and prints. No mechanism, no composition and no accounting may
live here, and nothing may be printed that was computed from protected data without the ledger's release.
"""
