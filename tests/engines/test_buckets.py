"""A bucket and the steps inside it find the place that a search finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import map_functions
from calibrant.engines.buckets import FEW, Buckets, choose, guides_of, ordered
from calibrant.export.expression_graph import Search, evaluate, lower, walk


def place(buckets, by, values, edges):
    """What an engine computes, with numpy."""
    last = len(buckets.before) - 1
    with np.errstate(invalid="ignore", over="ignore"):
        bucket = np.clip(np.rint((by - buckets.low) * buckets.scale), 0, last) if buckets.scale else np.zeros(len(by))
    found = buckets.before[bucket.astype(int)]
    padded = np.concatenate((edges, np.full(2 * buckets.most, np.inf)))
    for step in (2**power for power in reversed(range(int(buckets.most).bit_length()))):
        found = found + step * (padded[found + step - 1] < values)
    return found


def around(edges):
    return np.concatenate((edges, np.nextafter(edges, -1), np.nextafter(edges, 2), np.linspace(0, 1, 101)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60, unique=True), st.sampled_from([None, (0.0, 1.0)]))
def test_the_place_of_any_value(edges, domain):
    edges = np.sort(np.array(edges))
    values = np.clip(around(edges), 0, 1)
    found = place(Buckets.of(edges, domain), values, values, edges)
    assert np.array_equal(found, np.searchsorted(edges, values, side="left"))


def test_few_edges_need_few_buckets():
    buckets = Buckets.of(np.linspace(0.1, 0.9, 50), (0.0, 1.0))
    assert len(buckets.before) == 257
    assert buckets.covers
    assert buckets.most == 1
    crowded = Buckets.of(np.linspace(0.1, 0.2, 5000) ** 4, (0.0, 1.0))
    assert not crowded.covers
    assert crowded.most <= FEW


def test_knots_on_the_logit_scale_are_found_by_the_logit():
    root = lower(map_functions.LogitLinear(np.linspace(-20, 20, 400), np.linspace(-9, 9, 400), 1.0, 1.0))
    nodes = list(walk(root))
    (search,) = [node for node in nodes if isinstance(node, Search)]
    guides = guides_of(nodes)
    buckets, by = choose(search, guides[id(search)], (0.0, 1.0))
    assert by is guides[id(search)]
    assert buckets.most <= FEW
    values = np.clip(around(search.edges), 0, 1)
    found = place(buckets, evaluate(by, values), values, search.edges)
    assert np.array_equal(found, np.searchsorted(search.edges, values, side="left"))
    order = [id(node) for node in ordered(nodes, guides)]
    assert order.index(id(by)) < order.index(id(search))
    assert sorted(order) == sorted(map(id, nodes))


@pytest.mark.parametrize(
    "function", [map_functions.Step([0.5], [0.1, 0.9]), map_functions.Linear([0.1, 0.9], [0.2, 0.7])]
)
def test_other_searches_have_no_guide(function):
    assert guides_of(list(walk(lower(function)))) == {}
