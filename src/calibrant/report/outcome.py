"""What a positive row is called: an event that happened, or a predicted class that was right."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EVENT", "HIT", "Outcome", "outcome_of"]


@dataclass(frozen=True)
class Outcome:
    """The words of one kind of page.

    Attributes
    ----------
    positive : str
        As in "24 % of them positive".
    positives, negatives : str
        Rows of either kind.
    subject : str
        What may happen or not.
    happens, happened, past : str
        As in "it happens", "it happened", and "47 % happened".
    share : str
        What a table calls the observed share.
    often : str
        As in "how often the event really happens".
    fails : str
        The opposite, as in "how often it fails to happen".
    """

    positive: str
    positives: str
    negatives: str
    subject: str
    happens: str
    happened: str
    past: str
    share: str
    often: str
    fails: str


EVENT = Outcome(
    positive="positive",
    positives="positives",
    negatives="negatives",
    subject="the event",
    happens="happens",
    happened="happened",
    past="happened",
    share="happened",
    often="the event really happens",
    fails="it fails to happen",
)
HIT = Outcome(
    positive="predicted right",
    positives="right ones",
    negatives="wrong ones",
    subject="the predicted class",
    happens="is right",
    happened="was right",
    past="right",
    share="share right",
    often="the predicted class is right",
    fails="it is wrong",
)


def outcome_of(top_label: bool) -> Outcome:
    """The words for a page about the highest score of each row, or about an event.

    Examples
    --------
    >>> from calibrant.report.outcome import outcome_of
    >>> outcome_of(False).happened, outcome_of(True).happened
    ('happened', 'was right')
    """
    return HIT if top_label else EVENT
