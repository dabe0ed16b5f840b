"""What the classifiers of all rooms share with scikit-learn's: apart from tables, which are read without it."""

import abc
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from accountant.arrays import FloatArray
from learners.tables import Table


class PublicClassifier(ClassifierMixin):  # type: ignore[misc]  # untyped base
    """A classifier of public classes, of two unless it says otherwise."""

    _multi_class: ClassVar[bool] = False
    """Whether more than two classes are learnt. `EncodedSample.labels` then holds class numbers where there are."""

    classes_: npt.NDArray[np.generic]

    @abc.abstractmethod
    def decision_function(self, X: Table) -> FloatArray:
        """Scores, shape (n,), positive for the second class; of three classes or more, shape (n, classes)."""

    def predict(self, X: Table) -> npt.NDArray[np.generic]:
        """Classes, shape (n,); a score of 0, or the same score for several classes, goes to the first of them."""
        scores = self.decision_function(X)
        best = scores > 0.0 if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[best.astype(np.intp)]

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._multi_class
        return tags

    def _more_tags(self) -> dict[str, bool]:  # what scikit-learn before 1.6 asks for instead
        return {"binary_only": not self._multi_class}
