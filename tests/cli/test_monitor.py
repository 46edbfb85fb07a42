"""monitor: an alarm, or none."""

import json


def test_monitor(cli, refused, data, tmp_path):
    cli("fit", data, "-m", "platt", "-o", tmp_path / "m.json")
    calm = json.loads(cli("monitor", data, data, "--model", tmp_path / "m.json", "--json").out)
    assert not calm["alarm"]
    text = cli("monitor", data, data, "--model", tmp_path / "m.json", "--fail")
    assert text.code == 0
    assert "No alarm: no evidence against the probabilities so far" in text.out
    flipped = tmp_path / "flipped.csv"
    rows = data.read_text().splitlines()
    flipped.write_text("\n".join([rows[0], *(row[:-1] + str(1 - int(row[-1])) for row in rows[1:])]) + "\n")
    alarm = cli("monitor", data, flipped, "--fail")
    assert alarm.code == 3
    assert "ALARM" in alarm.out
    assert cli("monitor", data, flipped).code == 0
    assert "'--alpha'" in refused("monitor", data, data, "--alpha", "2")
