"""Make the extracts in this folder from the originals: ``python tests/data/extract.py FOLDER``.

FOLDER holds the originals; README.md says where they come from and how they are laid out.
"""

import shutil
import sys
from pathlib import Path

import numpy as np
from scipy.special import softmax

HERE = Path(__file__).parent


def resnet110(folder):
    """Confidence of the predicted class, and whether that class is right."""
    arrays = {}
    with np.load(folder / "raw" / "resnet110_c10_logits.npz") as original:
        for part in ("val", "test"):
            p = softmax(original[f"{part}_logits"].astype(float), axis=1)
            arrays[f"{part}_scores"] = p.max(axis=1)
            arrays[f"{part}_labels"] = p.argmax(axis=1) == original[f"{part}_labels"].ravel()
    np.savez_compressed(HERE / "resnet110_cifar10.npz", **arrays)


def bbq(folder):
    """The authors' example: scores (y) and labels (z)."""
    arrays = {}
    for part in ("train", "test"):
        arrays[f"{part}_scores"] = np.loadtxt(folder / "raw" / "bbq" / f"{part}_data_y.csv")
        arrays[f"{part}_labels"] = np.loadtxt(folder / "raw" / "bbq" / f"{part}_data_z.csv").astype(bool)
    np.savez_compressed(HERE / "bbq_example.npz", **arrays)


def main(folder):
    resnet110(folder)
    bbq(folder)
    shutil.copyfile(folder / "arena" / "llm_deepseek_v3.parquet", HERE / "llm_deepseek_v3.parquet")
    for name in ("battles_verdicts", "flares_C1", "recidivism"):
        shutil.copyfile(folder / "panel" / f"{name}.parquet", HERE / "panel" / f"{name}.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
