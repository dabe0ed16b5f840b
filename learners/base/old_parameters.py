"""Parameters of estimators that were renamed: see `accountant.renamed_parameters`.

Files keep the old names for good, so that models of every version load, and are written again byte by byte. The rest of
this module is to be removed with the version after 0.2.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self, cast

from sklearn.base import BaseEstimator

from accountant.renamed_parameters import current_names, renamed_parameters


class RenamedParameters(BaseEstimator):  # type: ignore[misc]  # untyped base
    """Base of estimators, some parameters of which were renamed: see `_renamed`."""

    _renamed: ClassVar[Mapping[str, str]] = {}
    """Old names of parameters, which files keep, and new ones."""

    _later: ClassVar[Mapping[str, object]] = {}
    """Parameters that came later, and their values of then, with which files leave them out."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        renamed_parameters(**cls._renamed)(cls)

    def set_params(self, **parameters: object) -> Self:
        """See scikit-learn."""
        return cast("Self", super().set_params(**current_names(type(self), self._old_names(), parameters)))

    @classmethod
    def _old_names(cls) -> dict[str, str]:
        """Old names and new ones, but for those that a subclass of somebody else's has for parameters of its own."""
        own = cls._get_param_names()
        return {name: new for name, new in cls._renamed.items() if name not in own}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Pickles of earlier versions have old names."""
        super().__setstate__({self._old_names().get(name, name): value for name, value in state.items()})

    @classmethod
    def _as_in_files(cls, parameters: Mapping[str, object]) -> dict[str, object]:
        """The same by the names that files and the ledger's entries have."""
        old = {new: name for name, new in cls._renamed.items()}
        said = {
            name: value for name, value in parameters.items() if name not in cls._later or value != cls._later[name]
        }
        return {old.get(name, name): value for name, value in said.items()}

    @classmethod
    def _out_of_file(cls, parameters: Mapping[str, object]) -> dict[str, object]:
        """The inverse, as arguments of the class."""
        old = cls._old_names()
        return {old.get(name, name): value for name, value in parameters.items()}
