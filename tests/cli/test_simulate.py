"""simulate: rows with known truths."""


def test_simulate(cli, refused, tmp_path):
    first = cli("simulate", "wave", "-n", "5", "--seed", "3")
    assert first.out.splitlines()[0] == "score,label,truth"
    assert len(first.out.splitlines()) == 6
    assert cli("simulate", "wave", "-n", "5", "--seed", "3").out == first.out
    assert cli("simulate", "xor", "-n", "50", "-o", tmp_path / "xor.parquet").code == 0
    assert "hump" in cli("simulate", "--list").out
    assert refused("simulate", "wav") == "There is no simulation 'wav'. Did you mean wave?"
    assert "Did you mean D1?" in refused("simulate", "d1")
    assert "There are D1, underconfident" in refused("simulate", "zzz")
    assert "--rows must be a positive number" in refused("simulate", "wave", "-n", "0")
