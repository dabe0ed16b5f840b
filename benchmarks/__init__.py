"""One runnable benchmark per paper or subject, see `catalogue`; each says what it reproduces and what it must show.

May import everything; nothing imports it, and it stays out of the wheel.
"""
