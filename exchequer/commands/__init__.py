"""What the commands of `exchequer` do, one module for each."""

from exchequer.commands import explain, ledger_commands, rado_commands, train
from exchequer.commands.demo import (
    run,
)
from exchequer.commands.explain import (
    Format,
)
from exchequer.commands.paying_ledger import (
    Payer,
)

__all__ = [
    "Format",
    "Payer",
    "explain",
    "ledger_commands",
    "rado_commands",
    "run",
    "train",
]
