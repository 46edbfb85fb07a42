import numpy as np
import pytest

from calibrant import forms
from calibrant.decisions import Split, decide, fold
from calibrant.programs import ARITHMETIC, Pick, Search, lower, walk

RNG = np.random.default_rng(1)
X = np.sort(RNG.random(50))
Y = np.sort(RNG.random(50))
LINEAR = forms.Linear(X, Y)
STEP = forms.Step(np.sort(RNG.random(30)), np.sort(RNG.random(31)))
LOGIT = forms.LogitLinear(np.linspace(-6, 6, 20), np.linspace(-4, 7, 20), 1.0, 1.0)
SCORES = np.concatenate((RNG.random(3000), X, np.nextafter(X, 1), np.nextafter(X, 0), [0.0, 1.0]))


class Numpy:
    def number(self, value):
        return value

    def apply(self, kind, *operands):
        return ARITHMETIC[kind](*operands)

    def split(self, value, edge, below, above):
        return np.where(value <= edge, below, above)


def depth(node):
    return 1 + max(depth(node.below), depth(node.above)) if isinstance(node, Split) else 0


@pytest.mark.parametrize(
    "form",
    [
        LINEAR,
        STEP,
        LOGIT,
        forms.Mixture([0.3, 0.3, 0.4], (LINEAR, STEP, LOGIT)),
        forms.Chain((LINEAR, STEP)),
        forms.Chain((LOGIT, LINEAR, forms.Sigmoid(0.5, 0.1, "logit"))),
        forms.Chain((STEP, LOGIT)),
        forms.Chain((forms.Mixture([0.5, 0.5], (LINEAR, LOGIT)), STEP)),
    ],
)
def test_the_tree_computes_what_the_form_computes(form):
    tree = decide(lower(form), (0.0, 1.0))
    assert not any(isinstance(node, Search | Pick) for node in walk(tree))
    np.testing.assert_allclose(fold(tree, SCORES, Numpy()), form(SCORES), rtol=0, atol=1e-13)


@pytest.mark.parametrize("m", [1, 2, 7, 200])
def test_the_tree_is_balanced(m):
    tree = decide(lower(forms.Step(np.arange(1.0, m + 1), np.linspace(0, 1, m + 1))), (-np.inf, np.inf))
    assert depth(tree) == int(m).bit_length()


def test_searches_of_one_value_share_a_tree_and_chains_add_up():
    splits = lambda form: sum(isinstance(n, Split) for n in walk(decide(lower(form), (0.0, 1.0))))  # noqa: E731
    assert splits(forms.Mixture([0.5, 0.5], (STEP, LINEAR))) == splits(STEP) + splits(LINEAR)
    assert splits(forms.Chain((LINEAR, STEP))) < 3 * (splits(LINEAR) + splits(STEP))
    assert splits(forms.Chain((STEP, LINEAR))) == splits(STEP)  # constants are mapped when the tree is built


def test_edges_outside_the_domain_are_not_asked():
    tree = decide(lower(forms.Step([-1.0, 0.5, 2.0], [0.1, 0.2, 0.3, 0.4])), (0.0, 1.0))
    assert isinstance(tree, Split)
    assert (tree.edge, tree.below.value, tree.above.value) == (0.5, 0.2, 0.3)
