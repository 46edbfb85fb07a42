"""What a map costs per score in each language it is exported to, against numpy, and how long the export takes.

python -m benchmarks.speed.export
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.timing import compare, seconds
from calibrant import CalibrationMap, export
from calibrant.calibrators import registry
from calibrant.export import parity, to_python
from calibrant.maps import functions

ROWS = 1_000_000


def example() -> CalibrationMap:
    x = np.sort(np.random.default_rng(0).random(200))
    return CalibrationMap(functions.Linear(x, np.sort(np.random.default_rng(1).random(200))), "probability", True)


def per_score(map_: CalibrationMap) -> None:
    import onnxruntime

    scores = np.random.default_rng(2).random(ROWS)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(export.to_onnx(map_).SerializeToString(), options)
    compare(
        "A million scores, 200 lines",
        ("the map in numpy", lambda: map_(scores)),
        {"ONNX": (lambda: session.run(None, {"score": scores}), None)},
    )


def export_times() -> None:
    rng = np.random.default_rng(0)
    raw = np.round(rng.beta(0.8, 1.2, 300), 2)
    labels = rng.random(300) < raw
    print("\nSeconds to export and check a map fitted to 300 rows, and the largest difference of its graph")
    for name in sorted(registry.METHODS["score"]):
        map_ = registry.create(name).fit(raw, labels).map_
        targets = {"SQL": export.to_sql, "ONNX": export.to_onnx, "Python": export.to_python}
        times = {target: seconds(partial(write, map_)) for target, write in targets.items()}
        print(
            f"  {name:<14}",
            "  ".join(f"{target} {took:6.2f}" for target, took in times.items()),
            f"  {difference(map_):.1e}",
        )


def difference(map_: CalibrationMap) -> float:
    namespace: dict = {"__name__": "exported"}
    exec(to_python(map_), namespace)

    scores = np.clip(np.concatenate((np.random.default_rng(3).random(100_000), parity.probe(map_))), 0.0, 1.0)
    return float(np.abs(np.array([namespace["calibrate"](score) for score in scores.tolist()]) - map_(scores)).max())


def main() -> None:
    per_score(example())
    export_times()


if __name__ == "__main__":
    main()
