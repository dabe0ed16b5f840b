"""Functions of scipy whose modules take a third of a second to import, which only those wait for who call them.

A command that shows a ledger prices nothing, and should not take longer to start than to do its work.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scipy.optimize import minimize_scalar
    from scipy.signal import lfilter
else:

    def lfilter(*arguments: object) -> object:
        """`scipy.signal.lfilter`."""
        from scipy import signal

        return signal.lfilter(*arguments)

    def minimize_scalar(*arguments: object, **named: object) -> object:
        """`scipy.optimize.minimize_scalar`."""
        from scipy import optimize

        return optimize.minimize_scalar(*arguments, **named)


__all__ = ["lfilter", "minimize_scalar"]
