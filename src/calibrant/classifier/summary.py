"""What a calibrated classifier says about itself."""

from collections.abc import Sequence
from typing import Any

__all__ = ["describe_models"]

SHOWN = 5


def describe_models(models: Sequence[Any], classes: Sequence[Any]) -> str:
    """Say in a few lines what was calibrated how, and what each calibrator of these models has to say."""
    names = [str(label) for label in classes]
    shown = ", ".join(names[:SHOWN]) + ", …" * (len(names) > SHOWN)
    method = type(models[0].calibrators[0]).__name__ if models[0].calibrators else "nothing"
    times = "once" if len(models) == 1 else f"{len(models)} times, on different rows"
    estimator = type(models[0].estimator).__name__
    lines = [f"{estimator} of {len(names)} classes ({shown}), trained {times}, calibrated by {method}."]
    if len(names) == 2:
        lines.append(f"The positive class is {names[1]}, the second column of `predict_proba`.")
    shared = len(models) > 1 and all(model.calibrators == models[0].calibrators for model in models)
    for i, model in enumerate(models[:1] if shared else models, 1):
        which = "All models" if shared else f"Model {i}"
        lines += [f"{which}{who}: {' '.join(text.splitlines())}" for who, text in _texts(model, names)]
    return "\n".join(lines)


def _texts(model: Any, names: Sequence[str]) -> list[tuple[str, str]]:
    """The summaries of the calibrators that have one, and of which class each is."""
    texts = [calibrator.summary() for calibrator in model.calibrators if hasattr(calibrator, "summary")]
    owners = [f", class {name}" for name in names] if len(texts) == len(names) > 1 else [""] * len(texts)
    return list(zip(owners, texts, strict=True))
