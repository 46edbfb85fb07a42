"""Labels that arrive over time: the adaptive calibrator on recorded streams, beside other methods.

`python -m benchmarks.streams --data FOLDER` prints log-loss less that of a static Blend, in thousandths of a nat. The
folder has INDEX.csv (name, delay), one file of rows (score, label, period) for each stream, and rivals.csv with what
other methods reached. `--copies 1` adds a shuffled copy of each stream, in which nothing changes. `--simulated 8` needs
no data: coverage and recovery on eight simulated series of each kind, and promotions of a right reference in 400.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.accuracy import adaptive
from calibrant.monitoring import walk_forward

RIVALS = (
    "prototype",
    "spline_forget_0.7",
    "spline_forget_0.9",
    "blend_forget_0.97",
    "blend_forget_1",
    "blend+ops",
    "ops",
)


def replay(rows, delay, copy):
    """The replayed stream; a copy other than 0 has its rows in random order."""
    order = np.random.default_rng(copy).permutation(len(rows)) if copy else np.arange(len(rows))
    scores, labels = rows["score"].to_numpy(float)[order], rows["label"].to_numpy()[order]
    return walk_forward(scores, labels, rows["period"].to_numpy(), delay=delay)


def by_source(losses):
    """Mean over sources of the mean over their streams: streams of one source are not independent."""
    return losses.groupby(losses.index.str.split("_").str[0]).mean().mean()


def measure(folder, copies, names):
    index = pd.read_csv(folder / "INDEX.csv").set_index("name")
    for name in names or index.index:
        rows = pd.read_parquet(folder / f"{name}.parquet")
        for copy in range(copies + 1):
            start = time.process_time()
            found = replay(rows, int(index.loc[name, "delay"]), copy)
            seconds = (time.process_time() - start) / len(found.periods)
            losses = {result.name: 1e3 * result.log_loss_difference.value for result in found.results}
            print(
                name, copy, {way: round(loss, 2) for way, loss in losses.items()}, f"{seconds:.3f} s/period", flush=True
            )
            yield {"stream": name, "copy": copy, "rows": len(rows), **losses}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--data", type=Path)
    what.add_argument("--simulated", type=int, metavar="SERIES")
    parser.add_argument("--copies", type=int, default=0)
    parser.add_argument("--streams", nargs="*", default=[])
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # shared outcomes are among the streams, and simulated
    if options.simulated:
        adaptive.coverage(options.simulated)
        adaptive.promotions(50 * options.simulated, "platt")
        return
    found = pd.DataFrame(measure(options.data, options.copies, options.streams)).set_index("stream")
    real = found[found["copy"] == 0].drop(columns=["copy", "rows"])
    recorded = pd.read_csv(options.data / "rivals.csv")
    losses = recorded[recorded["copy"] == 0].pivot_table(index="stream", columns="method", values="log_loss")
    rivals = 1e3 * losses.sub(losses["static"], axis=0).loc[real.index, [name for name in RIVALS if name in losses]]
    table = real.join(rivals)
    summary = pd.DataFrame({"by source": table.apply(by_source), "by stream": table.mean(), "worst": table.max()})
    print(table.round(2).T.to_string(), summary.round(2).sort_values("by source").to_string(), sep="\n\n")
    if options.copies:
        shuffled = found[found["copy"] > 0]
        print(
            "\nshuffled copies, adaptive less static:", shuffled.groupby("stream")["adaptive"].mean().round(2).to_dict()
        )


if __name__ == "__main__":
    main()
