"""What can be said about rows without labels: few labels make a posterior over maps, many scores go through it."""

from typing import TYPE_CHECKING

from calibrant import _lazy

if TYPE_CHECKING:
    from calibrant.estimates.answer import estimate as estimate
    from calibrant.estimates.answer import estimate_several as estimate_several
    from calibrant.estimates.cells import count_scores as count_scores
    from calibrant.estimates.difference import Difference as Difference
    from calibrant.estimates.difference import estimate_difference as estimate_difference
    from calibrant.estimates.labels import LabelsNeeded as LabelsNeeded
    from calibrant.estimates.labels import labels_needed as labels_needed
    from calibrant.estimates.proposal import Proposal as Proposal
    from calibrant.estimates.proposal import which_to_label as which_to_label
    from calibrant.estimates.quantities import QUANTITIES as QUANTITIES
    from calibrant.estimates.result import Estimate as Estimate

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    {
        "cells": "count_scores",
        "difference": "Difference estimate_difference",
        "answer": "estimate estimate_several",
        "labels": "LabelsNeeded labels_needed",
        "proposal": "Proposal which_to_label",
        "quantities": "QUANTITIES",
        "result": "Estimate",
    },
)
