"""Every build gives the same numbers: each kernel, as it was compiled, against its own text as plain Python."""

import importlib

import numpy as np
import pytest

from calibrant import simulate
from calibrant.calibrators import spline_posterior as basis

from .conftest import PACKAGE, plain_kernels

AGREEMENT = 1e-12  # relative: sums may be added up in another order, and that is all; see docs/howto/install.md

CELLS = simulate.bayes_iso(400, rng=0).tally.coarsen(80)
SCORES, POSITIVES, TOTALS = (np.array(column) for column in (CELLS.scores, CELLS.positives, CELLS.totals))
UNIT = (SCORES - SCORES[0]) / (SCORES[-1] - SCORES[0])
LAMBDAS = np.array([1.0, 8.0, 64.0])
BINNING = (UNIT, POSITIVES, TOTALS, LAMBDAS, 1.0, 1.0)
KNOTS = basis.knot_vector(SCORES, TOTALS, 10, 0.4)
CENTRES = basis.centres(KNOTS)


def uniforms(*shape):
    return np.random.default_rng(0).random(shape)


def sweeps(partitions):
    log_f, _ = partitions.forward(*BINNING, False)
    best, backpointers = partitions.forward(*BINNING, True)
    sums = [partitions.backward(*BINNING, log_f, False, what) for what in range(4)]
    return log_f, best, partitions.trace(backpointers[1]), *(array for arrays in sums for array in arrays)


def binnings(partition_draws):
    log_f = partition_draws.akaike_forward(UNIT, POSITIVES, TOTALS, LAMBDAS)
    draws = partition_draws.draw_binnings(*BINNING, log_f, np.arange(60) % 3, np.random.default_rng(1), True)
    return log_f, *draws


def laplace_fits(laplace):
    reader = basis.line_reader(CENTRES)
    scales, rough = np.array([0.5, 2.0]), basis.roughness(CENTRES, 2)
    local = basis.local_basis(SCORES, KNOTS)
    return laplace.evidence_grid(
        *local, UNIT, POSITIVES, TOTALS, reader.T @ reader, rough, scales, scales, 0.5, np.zeros((2, 2))
    )


def curve_means(logistic_normal):
    local, slope = basis.local_basis(SCORES, KNOTS), basis.line_reader(CENTRES)[1]
    modes, roots = uniforms(3, 10), uniforms(3, 10, 10)
    means, spreads = logistic_normal.curve_moments(*local, UNIT, slope, modes, roots)
    return means, spreads, logistic_normal.mean_logit(np.array([0.2, 0.3, 0.5]), means, spreads)


def near_isotonic(near_isotonic_path):
    sums, mass = (np.concatenate(([0.0], np.cumsum(column))) for column in (POSITIVES, TOTALS))
    falls = np.concatenate(([0.0], (np.diff(POSITIVES / TOTALS) < 0.0).astype(float), [0.0]))
    return near_isotonic_path.path(falls, sums, mass)


def monotone(monotone_draws):
    drawn = monotone_draws.draw(uniforms(50, 2, 80), np.zeros(80), np.ones(80), POSITIVES, TOTALS - POSITIVES)
    table = np.triu(uniforms(60, 60))
    return *drawn, monotone_draws.draw_levels(table, np.ascontiguousarray(table.T), uniforms(20, 10), 5)


RUNS = {
    "fast_math_for_tests": lambda kernel: [kernel.log_beta(a, b) for a, b in 50.0 * uniforms(100, 2) + 0.1],
    "laplace": laplace_fits,
    "loess": lambda kernel: kernel.fit(SCORES, POSITIVES / TOTALS, TOTALS, 0.5, 2),
    "logistic_normal": curve_means,
    "monotone_draws": monotone,
    "near_isotonic_path": near_isotonic,
    "partition_draws": binnings,
    "partition_sweep": lambda kernel: kernel.NEGLIGIBLE,  # `partitions` runs it
    "partitions": sweeps,
    "polyline": lambda kernel: kernel.simplify(SCORES, POSITIVES / TOTALS, np.full(80, 0.1)),
    "venn_abers": lambda kernel: kernel.with_a_positive(POSITIVES, TOTALS),
}


def test_all_kernels_are_compared():
    assert set(RUNS) == set(plain_kernels())


@pytest.mark.compiled
@pytest.mark.parametrize("name", RUNS)
def test_builds_agree(name):
    kernels = importlib.import_module(f"{PACKAGE}.{name}"), plain_kernels()[name]
    compiled, plain = (as_tuple(RUNS[name](kernel)) for kernel in kernels)
    assert len(compiled) == len(plain)
    for found, expected in zip(compiled, map(np.asarray, plain), strict=True):
        size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
        np.testing.assert_allclose(found, expected, rtol=AGREEMENT, atol=AGREEMENT * size)


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)
