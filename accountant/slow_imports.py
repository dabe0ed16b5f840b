"""Functions of scipy whose modules take up to a third of a second to import, which only those wait for who call them.

A command that shows a ledger prices nothing, and should not take longer to start than to do its work.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scipy.fft import irfft, next_fast_len, rfft
    from scipy.optimize import brentq, minimize_scalar
    from scipy.signal import lfilter
    from scipy.special import erfcx, gammaln, log_ndtr, ndtr
else:

    def irfft(*arguments: object) -> object:
        """`scipy.fft.irfft`."""
        from scipy import fft

        return fft.irfft(*arguments)

    def next_fast_len(*arguments: object, **named: object) -> object:
        """`scipy.fft.next_fast_len`."""
        from scipy import fft

        return fft.next_fast_len(*arguments, **named)

    def rfft(*arguments: object) -> object:
        """`scipy.fft.rfft`."""
        from scipy import fft

        return fft.rfft(*arguments)

    def erfcx(*arguments: object) -> object:
        """`scipy.special.erfcx`."""
        from scipy import special

        return special.erfcx(*arguments)

    def gammaln(*arguments: object) -> object:
        """`scipy.special.gammaln`."""
        from scipy import special

        return special.gammaln(*arguments)

    def log_ndtr(*arguments: object) -> object:
        """`scipy.special.log_ndtr`."""
        from scipy import special

        return special.log_ndtr(*arguments)

    def ndtr(*arguments: object) -> object:
        """`scipy.special.ndtr`."""
        from scipy import special

        return special.ndtr(*arguments)

    def lfilter(*arguments: object) -> object:
        """`scipy.signal.lfilter`."""
        from scipy import signal

        return signal.lfilter(*arguments)

    def brentq(*arguments: object, **named: object) -> object:
        """`scipy.optimize.brentq`."""
        from scipy import optimize

        return optimize.brentq(*arguments, **named)

    def minimize_scalar(*arguments: object, **named: object) -> object:
        """`scipy.optimize.minimize_scalar`."""
        from scipy import optimize

        return optimize.minimize_scalar(*arguments, **named)


__all__ = [
    "brentq",
    "erfcx",
    "gammaln",
    "irfft",
    "lfilter",
    "log_ndtr",
    "minimize_scalar",
    "ndtr",
    "next_fast_len",
    "rfft",
]
