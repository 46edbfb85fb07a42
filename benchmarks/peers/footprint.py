"""What a library costs before it does anything: packages that come with it, their size, time to import, first fit.

    python -m benchmarks.peers.footprint

Sizes are those of the packages as installed here, required ones only, numpy included. Times are processor times of
fresh interpreters, as ratios to one that imports numpy, best of several, in turn.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from importlib import metadata

ROUNDS = 5
#: package, and what a user imports to calibrate
PEERS = {
    "calibrant": "from calibrant import Blend",
    "scikit-learn": "from sklearn.calibration import CalibratedClassifierCV",
    "betacal": "from betacal import BetaCalibration",
    "venn-abers": "from venn_abers import VennAbers",
    "netcal": "from netcal.binning import BBQ",
    "splinecalib": "from splinecalib import SplineCalib",
    "probmetrics": "from probmetrics.calibrators import get_calibrator",
    "probcal": "from probcal import SplineCalibrator",
    "relplot": "from relplot import smECE",
    "uncertainty-calibration": "from calibration import PlattBinnerCalibrator",
}
FIT = "import numpy; from calibrant import {}; s = numpy.linspace(0.1, 0.9, 99); {}().fit(s, s > 0.5)"
CALIBRANT = ("numpy", "scikit-learn", "scipy")  # also where it runs from its sources


def required(package: str, found: set[str] | None = None) -> set[str]:
    """The package and all that it cannot do without, by name."""
    found = set() if found is None else found
    name = re.sub(r"[-_.]+", "-", package).lower()
    if name in found:
        return found
    needs = CALIBRANT if name == "calibrant" else [] if (d := _installed(name)) is None else _needs(d)
    if name == "calibrant" or d is not None:
        found.add(name)
    for need in needs:
        required(need, found)
    return found


def _installed(name: str) -> metadata.Distribution | None:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None  # of another system or Python


def _needs(distribution: metadata.Distribution) -> list[str]:
    lines = [line for line in distribution.requires or [] if "extra ==" not in line]
    return [re.split(r"[\s\[<>=!~;(]", line, maxsplit=1)[0] for line in lines]


def megabytes(name: str) -> float:
    distribution = _installed(name)
    files = [] if distribution is None else distribution.files or []
    paths = [path for file in files if (path := distribution.locate_file(file)).is_file()]
    return sum(path.stat().st_size for path in paths) / 1e6


def processor_seconds(code: str) -> float:
    """Of a fresh interpreter that runs `code`; other work on the machine hardly changes it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    here = {name: code for name, code in PEERS.items() if name == "calibrant" or _installed(name)}
    for name in PEERS.keys() - here.keys():
        print(f"{name} is not installed")
    tasks = {"numpy": "import numpy"} | here
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(ROUNDS):
        for name, code in tasks.items():
            best[name] = min(best[name], processor_seconds(code))
    unit = best["numpy"]
    for name in here:
        packages = required(name)
        size = sum(map(megabytes, packages))
        print(f"{name:<24} {len(packages):>3} packages, {size:6.0f} MB, import {best[name] / unit:5.1f} times numpy's")
    for name in ("Blend", "SplineCalibration", "IsotonicCalibration"):
        seconds = min(processor_seconds(FIT.format(name, name)) for _ in range(ROUNDS))
        print(f"{name}: import and fit of 99 rows {seconds / unit:.1f} times numpy's import")


if __name__ == "__main__":
    main()
