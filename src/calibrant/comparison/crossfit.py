"""What a method predicts for the rows that it has not seen."""

from collections.abc import Sequence

from sklearn.base import clone

from calibrant._typing import Floats
from calibrant.calibrators.base import Calibrator
from calibrant.metrics.folds import Fold
from calibrant.metrics.out_of_fold import OutOfFold, predict_folds
from calibrant.tally import Tally


def crossfit(calibrator: Calibrator, splits: Sequence[Fold], repeats: int) -> OutOfFold:
    """Fit a copy of the method on each training part and predict the rest."""

    def learn(train: Tally, scores: Floats) -> Floats:
        fitted: Calibrator = clone(calibrator).fit_tally(train)
        return fitted.predict(scores)

    return predict_folds(splits, learn, repeats)
