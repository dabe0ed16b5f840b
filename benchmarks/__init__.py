"""One runnable module per table or figure, each saying what it reproduces and what it must show.

May import everything; nothing imports it, and it stays out of the wheel.
"""
