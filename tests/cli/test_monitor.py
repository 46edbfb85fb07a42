"""monitor: an alarm, or none."""

import json

import numpy as np
import pytest

from calibrant import BetaCalibration
from calibrant.monitoring import CalibrationMonitor


def test_monitor(cli, refused, data, tmp_path):
    cli("fit", data, "-m", "platt", "-o", tmp_path / "m.json")
    calm = json.loads(cli("monitor", data, data, "--model", tmp_path / "m.json", "--json").out)
    assert not calm["alarm"]
    text = cli("monitor", data, data, "--model", tmp_path / "m.json", "--fail")
    assert text.code == 0
    assert "No alarm: the e-value is " in text.out
    assert "; it alarms at 20." in text.out
    flipped = tmp_path / "flipped.csv"
    rows = data.read_text().splitlines()
    flipped.write_text("\n".join([rows[0], *(row[:-1] + str(1 - int(row[-1])) for row in rows[1:])]) + "\n")
    alarm = cli("monitor", data, flipped, "--fail")
    assert alarm.code == 3
    assert "ALARM" in alarm.out
    assert cli("monitor", data, flipped).code == 0
    for alpha in ("2", "0", "nan"):
        assert f"--alpha must lie between 0 and 1, both excluded; got {alpha}" in refused(
            "monitor", data, data, "--alpha", alpha
        )


@pytest.mark.parametrize("more", [(), ("--by", "team")])
def test_rows_without_a_score_can_be_left_out(cli, refused, tmp_path, more):
    whole, holes = tmp_path / "whole.csv", tmp_path / "holes.csv"
    rows = [f"{(i % 10 + 0.5) / 10},{int(i % 10 > 4)},{'ab'[i % 2]}" for i in range(200)]
    whole.write_text("\n".join(["score,label,team", *rows]) + "\n")
    holes.write_text("\n".join(["score,label,team", *rows, ",1,a"]) + "\n")
    assert "1 of 201 rows has no score. Add --drop-missing" in refused("monitor", whole, holes, *more)
    kept = cli("monitor", whole, holes, "--drop-missing", *more)
    assert kept.code == 0, kept.err
    assert kept.out.replace("holes.csv", "whole.csv") == cli("monitor", whole, whole, *more).out


def test_several_classes(cli, animals, tmp_path):
    scores = ("-s", "p_cat,p_dog,p_fox", "-l", "animal")
    calm = cli("monitor", animals, animals, *scores, "--fail")
    assert calm.code == 0, calm.err
    assert "No alarm" in calm.out
    mixed = tmp_path / "mixed.csv"
    mixed.write_text(animals.read_text().replace(",cat,", ",?,").replace(",dog,", ",cat,").replace(",?,", ",dog,"))
    plain = json.loads(cli("monitor", animals, mixed, *scores, "--json").out)
    assert plain["alarm"]
    assert {"cat", "dog"} <= set(plain["alarms"])
    assert {one["name"] for one in plain["changes"]} == {"(predicted class)", "cat", "dog", "fox"}
    alarm = cli("monitor", animals, mixed, *scores, "--fail")
    assert alarm.code == 3
    assert "ALARM: the probabilities of " in alarm.out
    model = tmp_path / "m.json"
    cli("fit", mixed, *scores, "-o", model)
    assert not json.loads(cli("monitor", animals, mixed, *scores, "--model", model, "--json").out)["alarm"]


def write_teams(path, shifts, seed, n=600):
    rng = np.random.default_rng(seed)
    lines = ["score,label,team"]
    for name, shift in shifts.items():
        z = rng.normal(0.0, 1.2, n)
        y = rng.random(n) < 1 / (1 + np.exp(-z - shift))
        lines += [f"{1 / (1 + np.exp(-a))},{int(b)},{name}" for a, b in zip(z, y, strict=True)]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def files(tmp_path):
    reference = write_teams(tmp_path / "reference.csv", {"a": 0.0, "b": 0.0}, 0)
    return (
        reference,
        write_teams(tmp_path / "good.csv", {"a": 0.0, "b": 0.0}, 1),
        write_teams(tmp_path / "bad.csv", {"a": 0.0, "b": 1.0, "c": 0.0}, 2),
    )


def test_segments_are_tested_together(cli, files):
    reference, good, bad = files
    result = cli("monitor", reference, good, "--by", "team", "--fail")
    assert result.code == 0
    assert "No alarm: the e-value" in result.out
    result = cli("monitor", reference, bad, "--by", "team", "--fail")
    assert result.code == 3
    assert "ALARM: the probabilities of b no longer hold" in result.out
    assert "(new)" in result.out


@pytest.mark.parametrize("more", [(), ("--by", "team")])
def test_the_header_is_of_all_files(cli, files, more):
    reference, good, bad = files
    found = json.loads(cli("monitor", reference, good, bad, *more, "--json").out)
    assert found["rows"] == [1200, 3000]
    shares = [(look["rows"], look["happened"]) for look in found["looks"]]
    assert found["base_rates"][1] == pytest.approx(sum(n * share for n, share in shares) / 3000)
    assert "Rows: 1200 in the reference, 3000 now." in cli("monitor", reference, good, bad, *more).out


def test_the_header_is_of_all_files_of_several_classes(cli, animals):
    scores = ("-s", "p_cat,p_dog,p_fox", "-l", "animal")
    one, two = (json.loads(cli("monitor", *files, *scores, "--json").out) for files in ([animals] * 2, [animals] * 3))
    assert two["rows"] == [one["rows"][0], 2 * one["rows"][1]]
    assert two["mean_predicted"] == pytest.approx(one["mean_predicted"])


def test_json(cli, files):
    found = json.loads(cli("monitor", files[0], files[2], "--by", "team", "--json").out)
    assert found["alarm"]
    assert [one["name"] for one in found["changes"] if one["alarm"]] == ["b"]


def test_models_of_segments(cli, refused, files, tmp_path):
    model = tmp_path / "m.json"
    cli("fit", files[0], "--by", "team", "-m", "platt", "-o", model)
    assert "No alarm" in cli("monitor", files[0], files[1], "--by", "team", "--model", model).out
    both = ("monitor", files[0], files[1], "-l", "label", "--by", "team,label", "--model", model)
    assert "--by must name a column for each key of the model, team" in refused(*both)


@pytest.fixture
def drifting(tmp_path):
    """A map, eight months of rows, and the looks of the monitor in Python; from the fourth month on, 0.35 logits more.

    The first months lie slightly below the map, so that all rows together hide the shift.
    """
    rng = np.random.default_rng(3)

    def draw(n, shift):
        z = rng.normal(-2.0, 1.0, n)
        return np.round(1 / (1 + np.exp(-z)), 6), rng.random(n) < 1 / (1 + np.exp(-z - shift))

    map_ = BetaCalibration().fit(*draw(4000, 0.0)).map_
    map_.save(tmp_path / "map.json")
    months = [draw(600, -0.25 if month < 4 else 0.35) for month in range(1, 9)]
    monitor, looks = CalibrationMonitor(map_), []
    for month, (scores, y) in enumerate([(months[0][0], months[0][1]), *months], start=0):
        path = tmp_path / (f"2026-{month:02}.csv" if month else "reference.csv")
        lines = [f"{score},{'yes' if hit else 'no'},{month}" for score, hit in zip(scores, y, strict=True)]
        path.write_text("\n".join(["score,label,month", *lines]) + "\n")
        if month:
            monitor = monitor.updated(scores, y)
            looks.append((monitor.e_value, bool(monitor.alarms())))
    return tmp_path, looks


def test_a_drift_alarms_in_the_same_month_as_in_python(cli, drifting):
    folder, looks = drifting
    start = ("monitor", folder / "reference.csv")
    model = ("--model", folder / "map.json", "--fail")
    first = [alarm for _, alarm in looks].index(True) + 1
    assert 4 < first < 8
    files = [folder / f"2026-{month:02}.csv" for month in range(1, 9)]
    found = json.loads(cli(*start, *files, *model, "--json").out)
    assert [look["e_value"] for look in found["looks"]] == pytest.approx([e_value for e_value, _ in looks])
    assert [look["alarm"] for look in found["looks"]] == [alarm for _, alarm in looks]
    assert found["first_alarm"] == str(files[first - 1])
    calm = cli(*start, *files[: first - 1], *model)
    assert calm.code == 0
    assert f"No alarm: the e-value is {looks[first - 2][0]:.3g}" in calm.out
    alarm = cli(*start, folder / "2026-0*.csv", *model)
    assert alarm.code == 3
    assert f"First raised by {files[first - 1]}." in alarm.out
    whole = folder / "whole.csv"
    tables = [path.read_text().splitlines() for path in files]
    whole.write_text("\n".join([tables[0][0], *(line for table in reversed(tables) for line in table[1:])]) + "\n")
    by_time = json.loads(cli(*start, whole, *model, "--time", "month", "--json").out)
    assert [look["e_value"] for look in by_time["looks"]] == pytest.approx([e_value for e_value, _ in looks])
    assert by_time["first_alarm"] == str(first)


def test_a_state_goes_on_between_calls(cli, refused, drifting):
    folder, looks = drifting
    state = ("--state", folder / "monitor.json", "--fail")
    model = ("--model", folder / "map.json")
    codes = []
    for month in range(1, 9):
        result = cli("monitor", folder / "reference.csv", folder / f"2026-{month:02}.csv", *model, *state)
        assert f"{month} look" in result.out
        codes.append(result.code)
    assert codes == [3 * alarm for _, alarm in looks]
    assert "First raised by an earlier call." in result.out
    assert CalibrationMonitor.load(folder / "monitor.json").e_value == pytest.approx(looks[-1][0])
    again = ("monitor", folder / "reference.csv", folder / "2026-01.csv")
    assert "was begun with another --model" in refused(*again, *state)
    target = ("--state", folder / "2026-01.csv")
    assert "is an input and would be overwritten" in refused(*again, *model, *target)
    assert "--time must name a column" in refused(*again, *model, "--time", "day")


@pytest.mark.parametrize("shape", [("-s", "p_cat,p_dog,p_fox", "-l", "animal"), ("--by", "team")])
def test_states_of_every_shape(cli, refused, animals, files, tmp_path, shape):
    rows = animals if "-s" in shape else files[0]
    state = ("--state", tmp_path / "state.json")
    for _ in range(2):
        assert cli("monitor", rows, rows, *shape, *state).code == 0
    kept = json.loads(cli("monitor", rows, rows, *shape, *state, "--json").out)
    thrice = json.loads(cli("monitor", rows, rows, rows, rows, *shape, "--json").out)
    assert kept["e_value"] == pytest.approx(thrice["e_value"])
    if "--by" in shape:
        fewer = write_teams(tmp_path / "fewer.csv", {"a": 0.0}, 3)
        assert "watches other names than" in refused("monitor", fewer, rows, *shape, *state)


def test_looks_at_times_with_a_zone_keep_their_order(cli, tmp_path):
    rows = [f"{(i % 10 + 0.5) / 10},{int(i % 10 > 4)}" for i in range(60)]
    reference, later = tmp_path / "reference.csv", tmp_path / "later.csv"
    reference.write_text("\n".join(["score,label", *rows]) + "\n")
    days = ("2026-03-02 00:00:00+01:00", "2026-03-01 00:00:00+01:00")
    timed = [f"{row},{days[i < 30]}" for i, row in enumerate(rows)]
    later.write_text("\n".join(["score,label,at", *timed]) + "\n")
    answer = cli("monitor", reference, later, "--time", "at", "--json")
    assert answer.code == 0, answer.err
    looks = json.loads(answer.out)["looks"]
    assert [look["rows"] for look in looks] == [30, 30]
    assert looks[0]["look"] < looks[1]["look"]


def test_without_a_model_it_says_what_is_tested(cli, data, tmp_path):
    said = "Without --model, the scores themselves are tested."
    assert said in cli("monitor", data, data).out
    cli("fit", data, "-m", "platt", "-o", tmp_path / "m.json")
    assert said not in cli("monitor", data, data, "--model", tmp_path / "m.json").out
