import json

import numpy as np
import pytest

from calibrant import PlattScaling, Tally, engines, load
from calibrant.errors import InvalidInputError, ModelFileError


@pytest.fixture
def tally():
    rng = np.random.default_rng(0)
    return Tally.from_arrays(rng.random(100), rng.random(100) < 0.4, rng.random(100) + 0.1)


def test_what_was_saved_is_loaded(tmp_path, tally):
    path = tmp_path / "t.json"
    engines.save(tally, path)
    assert engines.load(path) == tally
    engines.save(Tally.empty(), path)
    assert len(engines.load(path)) == 0
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_shards_add_up(tmp_path):
    rng = np.random.default_rng(1)
    scores, y = np.round(rng.random(900), 2), rng.random(900) < 0.3
    for i in range(3):
        engines.save(Tally.from_arrays(scores[i::3], y[i::3]), tmp_path / f"{i}.json")
    whole = Tally.from_arrays(scores, y)
    assert engines.merge(str(tmp_path / "*.json")) == whole
    assert engines.merge([tmp_path / f"{i}.json" for i in range(3)]) == whole
    small = engines.merge(tmp_path / "*.json", max_cells=10)
    assert len(small) <= 10
    assert small.total == whole.total


def test_damaged_files_are_refused(tmp_path, tally):
    path = tmp_path / "t.json"
    engines.save(tally, path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ModelFileError, match="cut short"):
        engines.load(path)


def test_foreign_and_newer_files_are_refused(tmp_path, tally):
    path = tmp_path / "t.json"
    path.write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(ModelFileError, match="is not a calibrant model"):
        engines.load(path)
    PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).save(path)
    with pytest.raises(ModelFileError, match="holds no tally"):
        engines.load(path)
    engines.save(tally, path)
    with pytest.raises(ModelFileError, match="holds a map of the kind 'tally'"):
        load(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | {"version": 99}), encoding="utf-8")
    with pytest.raises(ModelFileError, match="file version 99"):
        engines.load(path)
    path.write_text(json.dumps(content | {"tally": {}}), encoding="utf-8")
    with pytest.raises(ModelFileError, match="damaged"):
        engines.load(path)


def test_no_files(tmp_path):
    with pytest.raises(InvalidInputError, match="No file matches"):
        engines.merge(str(tmp_path / "*.json"))
    with pytest.raises(InvalidInputError, match="at least one saved tally"):
        engines.merge([])


def test_a_link_stays_a_link(tmp_path, tally):
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    engines.save(Tally.empty(), target)
    link.symlink_to(target)
    engines.save(tally, link)
    assert link.is_symlink()
    assert engines.load(target) == tally
    assert sorted(p.name for p in tmp_path.iterdir()) == [link.name, target.name]


def test_a_failure_leaves_the_old_file(tmp_path, tally):
    path = tmp_path / "t.json"
    engines.save(tally, path)
    broken = Tally.empty()
    object.__setattr__(broken, "scores", object())
    with pytest.raises(Exception, match="object"):
        engines.save(broken, path)
    assert engines.load(path) == tally
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_name_with_brackets_is_not_a_pattern(tmp_path, tally):
    engines.save(tally, tmp_path / "t[1].json")
    engines.save(Tally.empty(), tmp_path / "t1.json")
    assert engines.merge(tmp_path / "t[1].json") == tally
    assert engines.merge([tmp_path / "t[1].json"]) == tally
