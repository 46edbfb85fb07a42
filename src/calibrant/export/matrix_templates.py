"""The text of the Python and C exports of several classes; `matrix_source` fills it in."""

from __future__ import annotations

__all__ = ["C_FILE", "PYTHON_FILE"]

# A line that begins with @part is written only where the map has that part, or is of that space.
PYTHON_FILE = '''"""{title}

Written by calibrant from a fitted map. Needs nothing but Python.
"""

from math import exp, expm1, log, nan

CLASSES = {classes}
{tables}
TEST_SCORES = {scores}
TEST_PROBABILITIES = {probabilities}


def {name}(scores):
    """Calibrated probabilities of one row of class scores; NaN for a row that the map does not accept."""
    if len(scores) != {k}:
        raise ValueError("a row has {k} scores, one for each class")
@probability    if not (min(scores) >= 0.0 and abs(sum(scores) - 1.0) <= {slack}):
@logits    if not all(abs(s) <= {largest} for s in scores):
        return [nan] * {k}
@probability    x = [{inverse_temperature} * log(max(s, {floor})) for s in scores]
@logits    x = [{inverse_temperature} * s for s in scores]
    top = max(x)
    log_sum = log(sum(exp(v - top) for v in x))
    ell = [v - top - log_sum for v in x]
    u = [min(max(v, {low}), {high}) for v in ell]
@curves    ramps = [[min(max((v - s) / w, 0.0), 1.0) for s, w in zip(STARTS, WIDTHS)] for v in ell]
@confusion    p = [exp(v) for v in ell]
@gate    sure = max(ell) - log(max(-expm1(min(max(ell), 0.0)), 1e-15))
@gate    gates = [min(max((sure - s) / w, 0.0), 1.0) for s, w in zip(GATE_STARTS, GATE_WIDTHS)]
    out = [0.0] * {k}
    for m in range({m}):
        gate = 0.0
@gate        gate = sum(g * c for g, c in zip(gates, GATE[m]))
        z = [SLOPE[m] * ell[k] + BIAS[m][k] + (VECTOR[m][k] + gate) * u[k] for k in range({k})]
@curves        z = [z[k] + sum(r * c for r, c in zip(ramps[k], CURVES[m][k])) for k in range({k})]
@matrix        z = [z[k] + sum(v * c for v, c in zip(u, MATRIX[m][k])) for k in range({k})]
@confusion        z = [z[k] + sum(v * c for v, c in zip(p, CONFUSION[m][k])) for k in range({k})]
        top = max(z)
        powers = [exp(v - top) for v in z]
        total = sum(powers)
        out = [o + WEIGHTS[m] * v / total for o, v in zip(out, powers)]
    return out


if __name__ == "__main__":
    for row, expected in zip(TEST_SCORES, TEST_PROBABILITIES):
        assert all(abs(p - q) <= 1e-12 for p, q in zip({name}(row), expected))
'''

C_FILE = """/* {title}

   Written by calibrant from a fitted map. C99; compile with -lm.
   Classes in the order of the columns: {comment}
   Test vector: {vector} */

#include <math.h>

{tables}
#define CALIBRANT_CLIP(x, low, high) fmin(fmax(x, low), high)

/* Calibrated probabilities of one row of {k} class scores; NaN for a row that the map does not accept. */
void {name}(const double *scores, double *out)
{{
    double ell[{k}], u[{k}], z[{k}], sum = 0.0, top = -HUGE_VAL;
    int accepted = 1;
    for (int k = 0; k < {k}; k++) {{
@probability        accepted = accepted && scores[k] >= 0.0;
@logits        accepted = accepted && fabs(scores[k]) <= {largest};
        sum += scores[k];
        out[k] = 0.0;
    }}
@probability    accepted = accepted && fabs(sum - 1.0) <= {slack};
    if (!accepted) {{
        for (int k = 0; k < {k}; k++)
            out[k] = NAN;
        return;
    }}
    for (int k = 0; k < {k}; k++) {{
@probability        ell[k] = {inverse_temperature} * log(fmax(scores[k], {floor}));
@logits        ell[k] = {inverse_temperature} * scores[k];
        top = fmax(top, ell[k]);
    }}
    sum = 0.0;
    for (int k = 0; k < {k}; k++)
        sum += exp(ell[k] - top);
    const double log_sum = log(sum);
    for (int k = 0; k < {k}; k++) {{
        ell[k] = ell[k] - top - log_sum;
        u[k] = CALIBRANT_CLIP(ell[k], {low}, {high});
    }}
@gate    const double best = -log_sum;
@gate    const double sure = best - log(fmax(-expm1(fmin(best, 0.0)), 1e-15));
    for (int m = 0; m < {m}; m++) {{
        double gate = 0.0;
@gate        for (int j = 0; j < {g}; j++)
@gate            gate += GATE[m * {g} + j] * CALIBRANT_CLIP((sure - GATE_STARTS[j]) / GATE_WIDTHS[j], 0.0, 1.0);
        top = -HUGE_VAL;
        for (int k = 0; k < {k}; k++) {{
            const int mk = m * {k} + k;
            z[k] = SLOPE[m] * ell[k] + BIAS[mk] + (VECTOR[mk] + gate) * u[k];
@curves            for (int j = 0; j < {j}; j++)
@curves                z[k] += CURVES[mk * {j} + j] * CALIBRANT_CLIP((ell[k] - STARTS[j]) / WIDTHS[j], 0.0, 1.0);
@matrix            for (int i = 0; i < {k}; i++)
@matrix                z[k] += MATRIX[mk * {k} + i] * u[i];
@confusion            for (int i = 0; i < {k}; i++)
@confusion                z[k] += CONFUSION[mk * {k} + i] * exp(ell[i]);
            top = fmax(top, z[k]);
        }}
        sum = 0.0;
        for (int k = 0; k < {k}; k++)
            sum += z[k] = exp(z[k] - top);
        for (int k = 0; k < {k}; k++)
            out[k] += WEIGHTS[m] * z[k] / sum;
    }}
}}
"""
