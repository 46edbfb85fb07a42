import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from calibrant import Blend
from calibrant.engines import TopKReader
from calibrant.errors import InvalidInputError

OPTIONS = ["A", "B", "C", "D"]


def simulate(n, rng, k=3):
    """Options of a model twice too sure, among two other words; the k most likely tokens are returned."""
    truth = rng.normal(0.0, 2.0, (n, 4))
    p = np.exp(truth) / np.exp(truth).sum(axis=1, keepdims=True)
    labels = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    logits = np.column_stack((2.0 * truth, rng.normal(-1.0, 1.0, (n, 2))))
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    tokens = [*OPTIONS, "The", "So"]
    return [{tokens[j]: one[j] for j in np.argsort(-one)[:k]} for one in logs], labels


def log_loss(p, labels):
    return -np.log(np.maximum(p[np.arange(len(labels)), labels], 1e-12)).mean()


def test_a_missing_option_lies_the_tail_below_the_lowest_token_and_what_is_left():
    # Left are 0.15 in the first row, more than the lowest token has, and in the second 0.0001, less than that.
    rows = [{"A": -0.5, "B": -1.5, "The": -4.0}, {"A": np.log(0.9), "C": np.log(0.09), "D": np.log(0.0099)}]
    logits = TopKReader(OPTIONS, tail=0.5).fit_transform(rows)
    assert logits[0].tolist() == [-0.5, -1.5, -4.5, -4.5]
    assert logits[1] == pytest.approx([np.log(0.9), np.log(0.0001) - 0.5, np.log(0.09), np.log(0.0099)])


def test_the_tail_is_learned_and_helps():
    rng = np.random.default_rng(0)
    rows, labels = simulate(4500, rng)
    train, y, test, rest = rows[:1500], labels[:1500], rows[1500:], labels[1500:]
    losses = {}
    for tail in (None, 0.0, 20.0):
        model = make_pipeline(TopKReader(OPTIONS, tail=tail), Blend(space="decision")).fit(train, y)
        losses[tail] = log_loss(model.predict_proba(test), rest)
    assert losses[None] < min(losses[0.0], losses[20.0]) - 0.005


def test_options_that_were_returned_come_as_they_are_whatever_the_tail():
    rows, labels = simulate(200, np.random.default_rng(1), k=6)
    reader = TopKReader(OPTIONS).fit(rows, labels)
    assert reader.transform(rows) == pytest.approx(np.array([[row[o] for o in OPTIONS] for row in rows]))
    assert reader.tail_ == pytest.approx(1.0, rel=1e-3)  # nothing to learn it from


@pytest.mark.parametrize(
    ("options", "row", "logits"),
    [
        (["A", "B", "C"], {" A": 0.5, "A": 0.2, "a": 0.1, "\tb ": 0.1}, [0.8, 0.1, None]),
        (["A", "B", "a"], {" A": 0.5, "a": 0.2, "b": 0.1, " B": 0.1}, [0.5, 0.1, 0.2]),  # capitals tell apart
        ([" A", "A", "B"], {" A": 0.5, "A": 0.2, "a": 0.1}, [0.5, 0.2, None]),  # and here spaces do
        (["Yes", "No", "Maybe"], {"YES": 0.4, " yes": 0.3, "yes.": 0.2, "no": 0.05}, [0.7, 0.05, None]),
    ],
)
def test_tokens_are_read_as_loosely_as_keeps_the_options_apart(options, row, logits):
    row = {token: np.log(p) for token, p in row.items()}
    bound = min(np.log(1 - sum(np.exp(list(row.values())))), min(row.values()))
    wanted = [bound - 1.0 if p is None else np.log(p) for p in logits]
    assert TopKReader(options, tail=1.0).fit_transform([row])[0] == pytest.approx(wanted)


def test_words_as_labels_give_the_same_as_numbers():
    rows, labels = simulate(300, np.random.default_rng(2))
    by_number, by_word = TopKReader(OPTIONS).fit(rows, labels), TopKReader(OPTIONS).fit(rows, np.array(OPTIONS)[labels])
    assert by_word.tail_ == by_number.tail_


@pytest.mark.parametrize(
    ("options", "rows", "y", "words"),
    [
        (["A", "B"], [{"A": -1.0}], [0], "three or more; got 2"),
        (["B", "A", "C"], [{"A": -1.0}], ["A"], "must be sorted"),
        (OPTIONS, [{"A": -1.0}, {"A": 0.4}], [0, 0], "row 1 has {'A': 0.4}"),
        (OPTIONS, [{"A": -1.0}, {}], [0, 0], "row 1 has {}"),
        (OPTIONS, [{"A": -1.0}], None, "`y` must be the right option"),
        (OPTIONS, [{"A": -1.0}], ["E"], "must hold the labels"),
        (OPTIONS, [{"A": -1.0}], [0, 1], "`y` must have as many rows"),
    ],
)
def test_what_cannot_be_read_is_refused(options, rows, y, words):
    with pytest.raises(InvalidInputError, match=words):
        TopKReader(options).fit(rows, y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_a_table_are_the_options_where_scikit_learn_asks_for_one(library):
    package = pytest.importorskip(library)
    rows = [{"A": -0.1, "B": -3.0}, {"C": -0.2, "B": -2.0}]
    reader = TopKReader(OPTIONS, tail=1.0).set_output(transform=library)
    table = reader.fit_transform(rows)
    assert isinstance(table, package.DataFrame)
    assert list(table.columns) == list(OPTIONS)
