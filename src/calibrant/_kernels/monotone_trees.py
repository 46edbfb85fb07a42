"""A Markov chain over monotone maps under Bayes-Iso's prior, in the coordinates of a binary search tree.

The prior (Allikivi and Kull 2019, section 4.2) picks a rank uniformly, gives it a value that is uniform between the
values already there, and goes on to the left and to the right. So a map is a random binary search tree over the
cells whose node i has the value low + u_i · (high − low), where low and high are the values of the nearest ancestors
on both sides and the u_i are independent and uniform. In these coordinates moving one u_i carries the whole subtree
along, which makes moves of every scale.

Cells are numbered 1 … m. `values` has two sentinels, values[0] = 0 and values[m + 1] = 1, and node 0 means "none".
Random numbers come in as arrays, so that the same numbers give the same chain.
"""

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
# A step about the mirror image need not reach as far: the mirror does that.
_MIRROR_REACH = 1.5
_EDGE = 0.02  # the centre of a mirror keeps this distance from the ends of its range
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


class _Chain:
    """The state of a chain: a map with its tree, and room for what is proposed."""

    def __init__(self, values: Floats, tree: Ints, positives: Floats, negatives: Floats, curve: Floats) -> None:
        m = len(values) - 2
        self.values, self.positives, self.negatives = values, positives, negatives
        self.left, self.right, self.parents = tree[LEFT], tree[RIGHT], tree[PARENT]
        self.firsts, self.lasts = tree[FIRST], tree[LAST]
        self.curve = curve
        self.fits: Floats = np.zeros(m + 2)  # the log-likelihood of each cell
        self.new_values: Floats = np.zeros(m + 2)
        self.new_fits: Floats = np.zeros(m + 2)
        self.slopes: Floats = np.zeros(m + 3)
        self.propose(1, m + 1, 0.0, 1.0)
        self.accept(1, m + 1)

    def propose(self, begin: int, end: int, fixed: float, factor: float) -> float:
        """Stretch the cells begin … end − 1 away from `fixed`; by how much their log-likelihood would grow."""
        gain = 0.0
        for k in range(begin, end):  # without branches: the compiler does many cells at a time
            new = fixed + (self.values[k] - fixed) * factor
            fit = self.positives[k] * fast_math.log(new) + self.negatives[k] * fast_math.log(1.0 - new)
            self.new_values[k] = new
            self.new_fits[k] = fit
            gain += fit - self.fits[k]
        return gain

    def accept(self, begin: int, end: int) -> None:
        """Let what is proposed for the cells begin … end − 1 be."""
        for k in range(begin, end):
            self.values[k] = self.new_values[k]
            self.fits[k] = self.new_fits[k]

    def smallest_gap(self, begin: int, end: int) -> float:
        """The smallest step between neighbours from value `begin` to value `end`."""
        gap = 1.0
        for k in range(begin, end):
            gap = min(gap, self.values[k + 1] - self.values[k])
        return gap

    def information(self, first: int, node: int, last: int) -> float:
        """Fisher information about the logit of u_node, at the reference map. O(1)."""
        curve = self.curve
        low, high = curve[0, first - 1], curve[0, last + 1]
        u = (curve[0, node] - low) / (high - low)
        # The cells up to the node move by (v − low)(1 − u), those above it by (high − v) u, per unit of logit u.
        below = (curve[3, node] - curve[3, first - 1]) - 2.0 * low * (curve[2, node] - curve[2, first - 1])
        below += low * low * (curve[1, node] - curve[1, first - 1])
        above = (curve[3, last] - curve[3, node]) - 2.0 * high * (curve[2, last] - curve[2, node])
        above += high * high * (curve[1, last] - curve[1, node])
        return max(below, 0.0) * (1.0 - u) * (1.0 - u) + max(above, 0.0) * u * u

    def move_subtree(self, node: int, where: float, whether: float) -> bool:
        """Propose a new u for a node, its subtree following affinely. O(log m) on average."""
        first, last = self.firsts[node], self.lasts[node]
        low, high = self.values[first - 1], self.values[last + 1]
        u = (self.values[node] - low) / (high - low)
        # Centre and step depend on the tree, on the reference and on values outside of the subtree: on nothing that
        # this move changes. So going to the mirror image of u's logit about the centre, give or take a step, is as
        # likely as the way back, and successive values lie on opposite sides of the centre, which halves their error.
        information = self.information(first, node, last)
        centre = min(max((self.curve[0, node] - low) / (high - low), _EDGE), 1.0 - _EDGE)
        trust = information / (_PRIOR_INFORMATION + information)
        step = _MIRROR_REACH / math.sqrt(_PRIOR_INFORMATION + information) * (2.0 * where - 1.0)
        inverse = (1.0 - u) / u
        odds = inverse * inverse * fast_math.exp(step + 2.0 * trust * fast_math.log(centre / (1.0 - centre)))
        scale = u * odds + (1.0 - u)
        left, right = odds / scale, 1.0 / scale
        # The u are uniform a priori, so the prior adds only the Jacobian of the logit: v (1 − v) / (u (1 − u)).
        gain = fast_math.log(left * right)
        gain += self.propose(first, node + 1, low, left)
        if node < last:
            gain += self.propose(node + 1, last + 1, high, right)
        if gain < 0.0 and whether >= fast_math.exp(gain):
            return False
        gap = min(left * self.smallest_gap(first - 1, node), right * self.smallest_gap(node, last + 1))
        if gap <= _CLOSEST:
            return False
        self.accept(first, last + 1)
        return True

    def move_cell(self, node: int, where: float, whether: float) -> None:
        """Propose a new value for a node alone, all others staying. O(1) on average."""
        low, old, high = self.values[node - 1], self.values[node], self.values[node + 1]
        u = (old - low) / (high - low)
        below, at, above = self.curve[0, node - 1], self.curve[0, node], self.curve[0, node + 1]
        reach = (at - below) * (above - at) / (above - below)
        information = (self.curve[1, node] - self.curve[1, node - 1]) * reach * reach
        step = _REACH / math.sqrt(_PRIOR_INFORMATION + information) * (2.0 * where - 1.0)
        odds = fast_math.exp(step)
        scale = u * odds + (1.0 - u)
        new = low + (high - low) * u * odds / scale
        if new - low < _CLOSEST or high - new < _CLOSEST:
            return
        # Each value has density 1 / (its range) given its ancestors; this value ends the ranges of two spines.
        before, after = 1.0, scale * scale
        child = self.left[node]
        while child > 0:
            bottom = self.values[self.firsts[child] - 1]
            before *= old - bottom
            after *= new - bottom
            child = self.right[child]
        child = self.right[node]
        while child > 0:
            top = self.values[self.lasts[child] + 1]
            before *= top - old
            after *= top - new
            child = self.left[child]
        fit = self.positives[node] * fast_math.log(new) + self.negatives[node] * fast_math.log(1.0 - new)
        gain = step + fast_math.log(before / after) + fit - self.fits[node]
        if gain >= 0.0 or whether < fast_math.exp(gain):
            self.values[node] = new
            self.fits[node] = fit

    def rotate(self, uniform: float) -> None:
        """Try to lift a random node above its parent, all values staying. O(1)."""
        m = len(self.values) - 2
        spot = uniform * m
        whole = int(spot)
        node = 1 + min(whole, m - 1)
        parent = self.parents[node]
        if parent == 0:
            return
        first, last = self.firsts[parent], self.lasts[parent]
        values = self.values
        # A tree and its values have density Π 1 / (size · range) over nodes; only these two nodes change theirs.
        if node < parent:
            before = (self.lasts[node] - first + 1) * (values[parent] - values[first - 1])
            after = (last - node) * (values[last + 1] - values[node])
        else:
            before = (last - self.firsts[node] + 1) * (values[last + 1] - values[parent])
            after = (node - first) * (values[node] - values[first - 1])
        if (spot - whole) * after < before:  # what the choice of the node left of the uniform is uniform again
            self.lift(node, parent)

    def find_slopes(self) -> None:
        """How the posterior density grows with the logarithm of each gap between values, into `slopes`. O(m).

        With the gaps as the softmax of such logarithms the density has no edges, so these slopes have mean zero.
        """
        m = len(self.values) - 2
        values, slopes = self.values, self.slopes
        for k in range(m + 3):
            slopes[k] = 0.0
        for node in range(1, m + 1):  # the prior density is the product of 1 / range
            width = values[self.lasts[node] + 1] - values[self.firsts[node] - 1]
            slopes[self.firsts[node] - 1] -= 1.0 / width
            slopes[self.lasts[node] + 1] += 1.0 / width
        for gap in range(1, m + 1):
            slopes[gap] += slopes[gap - 1]
        above, mean = 0.0, 0.0
        for gap in range(m, -1, -1):  # a gap lifts all cells above it
            slopes[gap] += above
            mean += slopes[gap] * (values[gap + 1] - values[gap])
            if gap > 0:
                above += self.positives[gap] / values[gap] - self.negatives[gap] / (1.0 - values[gap])
        for gap in range(m + 1):
            slopes[gap] = 1.0 + (values[gap + 1] - values[gap]) * (slopes[gap] - mean - (m + 1.0))

    def lift(self, node: int, parent: int) -> None:
        """Turn the edge between a node and its parent round."""
        grandparent = self.parents[parent]
        if node < parent:
            middle = self.right[node]
            self.right[node], self.left[parent] = parent, middle
            self.firsts[parent], self.lasts[node] = node + 1, self.lasts[parent]
        else:
            middle = self.left[node]
            self.left[node], self.right[parent] = parent, middle
            self.lasts[parent], self.firsts[node] = node - 1, self.firsts[parent]
        self.parents[parent], self.parents[node] = node, grandparent
        if middle > 0:
            self.parents[middle] = parent
        if grandparent > 0:
            if self.left[grandparent] == parent:
                self.left[grandparent] = node
            else:
                self.right[grandparent] = node


def run(
    values: Floats, tree: Ints, positives: Floats, negatives: Floats, curve: Floats, uniforms: Floats, waves: Floats
) -> tuple[Floats, Floats, float]:
    """One chain: a sweep for each of the `uniforms`, of shape (n_sweeps, UNIFORMS, m).

    `values` (with sentinels) and `tree` are the state and change in place; `positives` and `negatives` of the cells
    are padded like `values`. A sweep moves every subtree, every inner node and 2m random edges, O(m log m) on average.
    Returns the map after each sweep, (n_sweeps, m), its control variates, whose mean over the posterior is zero,
    (n_sweeps, n_waves), for `waves` over the gaps, (n_waves, m + 1), and the share of accepted subtree moves.
    """
    m = len(values) - 2
    chain = _Chain(values, tree, positives, negatives, curve)
    draws, controls = np.empty((len(uniforms), m)), np.zeros((len(uniforms), len(waves)))
    accepted = 0
    with cython.nogil:
        for t in range(len(uniforms)):
            for node in range(1, m + 1):
                accepted += chain.move_subtree(node, uniforms[t, 0, node - 1], uniforms[t, 1, node - 1])
            for node in range(1, m + 1):
                # The subtree of a leaf is the leaf: it has moved already.
                if chain.left[node] > 0 or chain.right[node] > 0:
                    chain.move_cell(node, uniforms[t, 2, node - 1], uniforms[t, 3, node - 1])
            for row in range(4, 6):
                for k in range(m):
                    chain.rotate(uniforms[t, row, k])
            for k in range(m):
                draws[t, k] = values[k + 1]
            chain.find_slopes()
            for wave in range(len(waves)):
                for gap in range(m + 1):
                    controls[t, wave] += waves[wave, gap] * chain.slopes[gap]
    return np.asarray(draws), np.asarray(controls), accepted / max(float(m * len(uniforms)), 1.0)
