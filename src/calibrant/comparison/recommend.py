"""The rule by which a comparison recommends a method; the report and the command line read its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calibrant.calibrators import registry
from calibrant.comparison.candidates import RAW
from calibrant.intervals import Interval
from calibrant.metrics.folds import OutOfFold


@dataclass(frozen=True)
class Recommendation:
    """A method, the reason in a sentence, the methods that are as good, and the gain on which it rests.

    `gain` is how much lower the log-loss is than the reference's; where nothing is recommended, that of the method
    that came nearest. For a method that was picked because it did best, the interval allows for having tried so many.
    """

    name: str
    reason: str
    tied: tuple[str, ...]
    notes: tuple[str, ...]
    gain: Interval | None


def recommend(
    ranking: Sequence[str],
    predictions: Mapping[str, OutOfFold],
    reference: str,
    level: float,
    barred: Sequence[str] = (),
    *,
    default: str = registry.DEFAULT_METHOD,
) -> Recommendation:
    """Recommend one of the methods in `ranking`, lowest log-loss first, against the `reference`; `barred` ones never.

    1. The default method, if it is better than the reference beyond chance, and no other is better than it by more
       than the best of so many would be by chance (Bonferroni). It was named beforehand, so it has the whole level.
    2. Otherwise the best, if it is better than the reference by more than the best of so many would be by chance.
    3. Otherwise the default, if it is better than the reference beyond chance.
    4. Otherwise the reference: do nothing, where that is the raw score.
    """
    rivals = [name for name in ranking if name != reference and name not in barred]
    tried = max(len(rivals), 1)

    def gain_of(name: str) -> Interval:
        own_level = _shared(level, 1 if name == default else tried)
        return lower_log_loss(predictions[name], predictions[reference], own_level)

    def is_tied(name: str, other: str, level: float) -> bool:
        """Whether a method is not worse than the other beyond chance."""
        return lower_log_loss(predictions[other], predictions[name], level).low <= 0.0

    order = rivals[:1]
    if default in rivals:
        first = all(is_tied(default, rival, _shared(level, tried)) for rival in rivals)
        order = [default, *order] if first else [*order, default]
    chosen = next((name for name in order if gain_of(name).low > 0.0), reference)
    gain = gain_of(chosen if chosen != reference else order[0]) if order else None
    alone = lower_log_loss(predictions[chosen], predictions[reference], level)
    tied = tuple(n for n in ranking if n not in barred and n != chosen and is_tied(n, chosen, level))
    notes = _explain(ranking, chosen, tied, barred)
    return Recommendation(chosen, _reason(chosen, reference, alone, tied), tied, notes, gain)


def lower_log_loss(own: OutOfFold, other: OutOfFold, level: float) -> Interval:
    """By how much the log-loss is lower than the other's on the same rows."""
    return own.interval(other.losses("log") - own.losses("log"), level)


def _shared(level: float, tried: int) -> float:
    """The level of one interval of several, so that all hold together with at least `level`."""
    return 1.0 - (1.0 - level) / tried


def _reason(chosen: str, reference: str, gain: Interval, tied: tuple[str, ...]) -> str:
    if chosen == reference:
        if reference == RAW:
            return "do nothing: no method lowers the log-loss of the raw score by more than chance."
        return f"{reference}: no other method lowers its log-loss by more than chance."
    than = "the raw score" if reference == RAW else reference
    others = f"; these rows cannot tell it from {', '.join(tied)}" if tied else ", the lowest of all"
    return f"{chosen}: its log-loss is {gain} lower than that of {than}{others}."


def _explain(ranking: Sequence[str], chosen: str, tied: tuple[str, ...], barred: Sequence[str]) -> tuple[str, ...]:
    """Notes for a reader of the ranking on methods that stand higher than a tied one and are not called tied."""
    places = {name: place for place, name in enumerate(ranking)}
    last = max(places[name] for name in (chosen, *tied))
    above = [name for name in ranking[:last] if name != chosen and name not in tied]
    worse = [name for name in above if name not in barred]
    notes = [f"{name} is a curve for measuring, so it is never recommended." for name in above if name in barred]
    if worse:
        notes.append(
            f"{', '.join(worse)}: not among the tied, though ranked above {ranking[last]}, because paired row by "
            f"row the difference to {chosen} is certain."
        )
    return tuple(notes)
