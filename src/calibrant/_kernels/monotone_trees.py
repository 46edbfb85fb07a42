"""A Markov chain over monotone maps under Bayes-Iso's prior, in the coordinates of a binary search tree.

The prior (Allikivi and Kull 2019, section 4.2) picks a rank uniformly, gives it a value that is uniform between the
values already there, and goes on to the left and to the right. So a map is a random binary search tree over the
cells whose node i has the value low + u_i · (high − low), where low and high are the values of the nearest ancestors
on both sides and the u_i are independent and uniform. In these coordinates moving one u_i carries the whole subtree
along, which makes moves of every scale.

Cells are numbered 1 … m. `values` has two sentinels, values[0] = 0 and values[m + 1] = 1, and node 0 means "none".
Random numbers come in as arrays, so that the same numbers give the same chain.
"""

from __future__ import annotations

import math

import numpy as np

from calibrant._kernels import fast_math, plain
from calibrant._typing import Floats, Ints

try:
    import cython
except ImportError:
    from calibrant._kernels import plain as cython

plain.warn_if_slow(__file__)

LEFT, RIGHT, PARENT, FIRST, LAST = range(5)  # rows of a tree; the subtree of node i covers FIRST[i] … LAST[i]

UNIFORMS = 6  # rows of random numbers that one sweep needs: two for each kind of move, two for rotations

# Values closer than this count as outside of the prior's support: in doubles they could tie, and ties never part.
_CLOSEST = 1e-14
# A uniform step of this many posterior deviations has the acceptance rate, 40 %, that is best for one coordinate.
_REACH = 2.4 * math.sqrt(3.0)
_PRIOR_INFORMATION = 0.3  # 1 / variance of the logit of a uniform number


def grow(picks: Floats) -> Ints:
    """A random binary search tree: every cell is equally likely to be the root of its range. O(m)."""
    m = len(picks)
    tree = np.zeros((5, m + 1), dtype=np.intp)
    waiting = np.empty((m + 1, 3), dtype=np.intp)  # ranges of cells, and the parent of each
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 1, m, 0
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        first, last, parent = waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2]
        size = last - first + 1
        steps = int(picks[first - 1] * size)
        node = first + min(steps, size - 1)
        tree[PARENT, node], tree[FIRST, node], tree[LAST, node] = parent, first, last
        tree[LEFT if node < parent else RIGHT, parent] = node
        if node > first:
            waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2] = first, node - 1, node
            n_waiting += 1
        if node < last:
            waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2] = node + 1, last, node
            n_waiting += 1
    return np.asarray(tree)


def curvature(reference: Floats, totals: Floats) -> Floats:
    """What the step sizes need of a reference map: its padded values and sums of information up to each cell.

    Rows: values with sentinels, then the sums of w, w·v and w·v² with w = n / (v (1 − v)), the information that a
    cell's n rows have about its value v. They give the information about any u_i in O(1).
    """
    m = len(reference)
    out = np.zeros((4, m + 2))
    out[0, 1 : m + 1], out[0, m + 1] = reference, 1.0
    information = totals / (reference * (1.0 - reference))
    for power in range(3):
        out[1 + power, 1 : m + 1] = np.cumsum(information * reference**power)
    return out


def _subtree_information(curve: Floats, first: int, node: int, last: int) -> float:
    """Fisher information about the logit of u_node, at the reference map. O(1)."""
    low, high = curve[0, first - 1], curve[0, last + 1]
    u = (curve[0, node] - low) / (high - low)
    # The cells up to the node move by (v − low)(1 − u), those above it by (high − v) u, per unit of logit u.
    below = (curve[3, node] - curve[3, first - 1]) - 2.0 * low * (curve[2, node] - curve[2, first - 1])
    below += low * low * (curve[1, node] - curve[1, first - 1])
    above = (curve[3, last] - curve[3, node]) - 2.0 * high * (curve[2, last] - curve[2, node])
    above += high * high * (curve[1, last] - curve[1, node])
    return max(below, 0.0) * (1.0 - u) * (1.0 - u) + max(above, 0.0) * u * u


def _gain(
    values: Floats,
    fits: Floats,
    positives: Floats,
    negatives: Floats,
    begin: int,
    end: int,
    fixed: float,
    factor: float,
) -> float:
    """By how much the log-likelihood grows when the cells begin … end − 1 are stretched away from `fixed`."""
    gain = 0.0
    # A loop without stores and branches: the compiler does many cells at a time.
    for k in range(begin, end):
        new = fixed + (values[k] - fixed) * factor
        gain += positives[k] * fast_math.log(new) + negatives[k] * fast_math.log(1.0 - new) - fits[k]
    return gain


def _smallest_gap(values: Floats, begin: int, end: int) -> float:
    """The smallest step between neighbours from value `begin` to value `end`."""
    gap = 1.0
    for k in range(begin, end):
        gap = min(gap, values[k + 1] - values[k])
    return gap


def _stretch(
    values: Floats,
    fits: Floats,
    positives: Floats,
    negatives: Floats,
    begin: int,
    end: int,
    fixed: float,
    factor: float,
) -> None:
    for k in range(begin, end):
        new = fixed + (values[k] - fixed) * factor
        values[k] = new
        fits[k] = positives[k] * fast_math.log(new) + negatives[k] * fast_math.log(1.0 - new)


def _move_subtrees(
    values: Floats, fits: Floats, positives: Floats, negatives: Floats, tree: Ints, curve: Floats, uniforms: Floats
) -> int:
    """Propose a new u for every node, its subtree following affinely. O(m log m) on average."""
    accepted = 0
    for node in range(1, tree.shape[1]):
        first, last = tree[FIRST, node], tree[LAST, node]
        low, high = values[first - 1], values[last + 1]
        u = (values[node] - low) / (high - low)
        # The step depends on the tree and on the reference only, neither of which this move changes.
        reach = _REACH / math.sqrt(_PRIOR_INFORMATION + _subtree_information(curve, first, node, last))
        step = reach * (2.0 * uniforms[0, node - 1] - 1.0)
        odds = math.exp(step)
        scale = u * odds + (1.0 - u)
        left, right = odds / scale, 1.0 / scale
        # The u are uniform a priori, so the prior adds only the Jacobian of the logit: v (1 − v) / (u (1 − u)).
        gain = math.log(left * right)
        gain += _gain(values, fits, positives, negatives, first, node + 1, low, left)
        if node < last:
            gain += _gain(values, fits, positives, negatives, node + 1, last + 1, high, right)
        if gain < 0.0 and uniforms[1, node - 1] >= math.exp(gain):
            continue
        gap = min(left * _smallest_gap(values, first - 1, node), right * _smallest_gap(values, node, last + 1))
        if gap > _CLOSEST:
            accepted += 1
            _stretch(values, fits, positives, negatives, first, node + 1, low, left)
            _stretch(values, fits, positives, negatives, node + 1, last + 1, high, right)
    return accepted


def _move_cells(
    values: Floats, fits: Floats, positives: Floats, negatives: Floats, tree: Ints, curve: Floats, uniforms: Floats
) -> None:
    """Propose a new value for every inner node alone, all others staying. O(m) on average."""
    for node in range(1, tree.shape[1]):
        if tree[LEFT, node] == 0 and tree[RIGHT, node] == 0:
            continue  # the subtree of a leaf is the leaf: it has moved already
        low, old, high = values[node - 1], values[node], values[node + 1]
        u = (old - low) / (high - low)
        below, at, above = curve[0, node - 1], curve[0, node], curve[0, node + 1]
        weight = curve[1, node] - curve[1, node - 1]
        reach = (at - below) * (above - at) / (above - below)
        information = weight * reach * reach
        step = _REACH / math.sqrt(_PRIOR_INFORMATION + information) * (2.0 * uniforms[0, node - 1] - 1.0)
        odds = math.exp(step)
        scale = u * odds + (1.0 - u)
        new = low + (high - low) * u * odds / scale
        if new - low < _CLOSEST or high - new < _CLOSEST:
            continue
        # Each value has density 1 / (its range) given its ancestors; this value ends the ranges of two spines.
        before, after = 1.0, scale * scale
        child = tree[LEFT, node]
        while child > 0:
            bottom = values[tree[FIRST, child] - 1]
            before *= old - bottom
            after *= new - bottom
            child = tree[RIGHT, child]
        child = tree[RIGHT, node]
        while child > 0:
            top = values[tree[LAST, child] + 1]
            before *= top - old
            after *= top - new
            child = tree[LEFT, child]
        fit = positives[node] * fast_math.log(new) + negatives[node] * fast_math.log(1.0 - new)
        gain = step + math.log(before / after) + fit - fits[node]
        if gain >= 0.0 or uniforms[1, node - 1] < math.exp(gain):
            values[node] = new
            fits[node] = fit


def _rotate(values: Floats, tree: Ints, uniforms: Floats) -> None:
    """Try to lift as many random nodes above their parents as there are uniforms, all values staying. O(1) each."""
    left, right, parents = tree[LEFT], tree[RIGHT], tree[PARENT]
    firsts, lasts = tree[FIRST], tree[LAST]
    m = tree.shape[1] - 1
    for r in range(len(uniforms)):
        spot = uniforms[r] * m
        whole = int(spot)
        node = 1 + min(whole, m - 1)
        parent = parents[node]
        if parent == 0:
            continue
        first, last = firsts[parent], lasts[parent]
        # A tree and its values have density Π 1 / (size · range) over nodes; only these two nodes change theirs.
        if node < parent:
            before = (lasts[node] - first + 1) * (values[parent] - values[first - 1])
            after = (last - node) * (values[last + 1] - values[node])
        else:
            before = (last - firsts[node] + 1) * (values[last + 1] - values[parent])
            after = (node - first) * (values[node] - values[first - 1])
        if (spot - whole) * after >= before:  # what the choice of the node left of the uniform is uniform again
            continue
        grandparent = parents[parent]
        if node < parent:
            middle = right[node]
            right[node], left[parent] = parent, middle
            firsts[parent], lasts[node] = node + 1, last
        else:
            middle = left[node]
            left[node], right[parent] = parent, middle
            lasts[parent], firsts[node] = node - 1, first
        parents[parent], parents[node] = node, grandparent
        if middle > 0:
            parents[middle] = parent
        if grandparent > 0:
            if left[grandparent] == parent:
                left[grandparent] = node
            else:
                right[grandparent] = node


def run(
    values: Floats, tree: Ints, positives: Floats, negatives: Floats, curve: Floats, uniforms: Floats
) -> tuple[Floats, float]:
    """One chain: a sweep for each of the `uniforms`, of shape (n_sweeps, UNIFORMS, m).

    `values` (with sentinels) and `tree` are the state and change in place; `positives` and `negatives` of the cells
    are padded like `values`. Returns the map after each sweep, (n_sweeps, m), and the share of accepted subtree moves.
    """
    m = len(values) - 2
    draws = np.empty((len(uniforms), m))
    fits = np.zeros(m + 2)
    accepted = 0
    with cython.nogil:
        _stretch(values, fits, positives, negatives, 1, m + 1, 0.0, 1.0)  # by nothing: for the log-likelihoods
        for t in range(len(uniforms)):
            accepted += _move_subtrees(values, fits, positives, negatives, tree, curve, uniforms[t])
            _move_cells(values, fits, positives, negatives, tree, curve, uniforms[t, 2:])
            _rotate(values, tree, uniforms[t, 4])
            _rotate(values, tree, uniforms[t, 5])
            for k in range(m):
                draws[t, k] = values[k + 1]
    return np.asarray(draws), accepted / max(float(m * len(uniforms)), 1.0)
