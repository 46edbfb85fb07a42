import os
import pwd
import shutil
import socket
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from calibrant import CalibrationMap
from calibrant.calibrators import registry
from calibrant.errors import InvalidInputError
from calibrant.export import parity, to_sql
from calibrant.maps import functions

duckdb = pytest.importorskip("duckdb", reason="the export is checked with DuckDB")
sqlglot = pytest.importorskip("sqlglot", reason="the export is written with sqlglot")

DIALECTS = ["bigquery", "duckdb", "postgres", "snowflake", "spark"]
LONG = {"blend", "spline"}  # hundreds of kilobytes; their functions are tested here with fewer pieces
X, Y = np.sort(np.random.default_rng(0).random((2, 12)))
MAPS = {
    "identity": CalibrationMap(functions.Identity(), "probability"),
    "step": CalibrationMap(functions.Step(X[:-1], Y), "probability"),
    "linear": CalibrationMap(functions.Linear(X, Y)),
    "logit_linear": CalibrationMap(functions.LogitLinear([-3.0, 0.0, 2.0], [-4.0, 0.5, 3.0], 1.0, 0.5), "probability"),
    "beta": CalibrationMap(functions.Beta(1.3, 0.7, -0.2), "probability"),
    "decision": CalibrationMap(functions.Sigmoid(1.7, 0.1, "identity")),
}
MAPS["chain"] = MAPS["linear"].then(MAPS["beta"])


def run_duckdb(text, scores):
    with duckdb.connect() as connection:
        connection.register("t", {"score": np.asarray(scores, dtype=float), "i": np.arange(len(scores))})
        rows = connection.sql(f"SELECT {text} FROM t ORDER BY i").fetchall()
    return np.array([np.nan if row[0] is None else row[0] for row in rows], dtype=float)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_function_in_every_dialect(name, dialect):
    text = to_sql(MAPS[name], dialect=dialect, column="a b.p")
    quote = "`" if dialect in ("bigquery", "spark") else '"'
    assert f"{quote}a b{quote}.{quote}p{quote}" in text or dialect == "bigquery"
    assert "calibrant test vector" in text


@pytest.mark.parametrize("name", sorted(set(registry.METHODS["score"]) - LONG))
def test_every_method(name):
    rng = np.random.default_rng(0)
    raw = np.round(rng.beta(0.8, 1.2, 200), 1)
    map_ = registry.create(name).fit(raw, rng.random(200) < raw).map_
    scores = np.clip(np.concatenate((rng.random(100_000), parity.probe(map_))), 0, 1)
    text = to_sql(map_)
    np.testing.assert_allclose(run_duckdb(text, scores), map_(scores), rtol=0, atol=max(distance(text), 1e-12))


def distance(text):
    """How far the comment says that the expression is from the map, with the rounding of that."""
    return 1.05 * float(text.partition("/* within ")[2].partition(" of the map")[0] or 0.0)


def test_what_the_map_refuses_becomes_null():
    text = to_sql(MAPS["step"])
    assert np.isnan(run_duckdb(text, [np.nan, -0.1, 1.1, np.inf, 0.5])).tolist() == [True] * 4 + [False]
    assert np.isnan(run_duckdb(to_sql(MAPS["decision"]), [np.nan, np.inf, -np.inf, 3.0])).tolist() == [True] * 3 + [
        False
    ]
    assert duckdb.sql(f"SELECT {text} FROM (SELECT CAST(NULL AS DOUBLE) AS score)").fetchall() == [(None,)]


def test_a_column_name_cannot_leave_its_quotes():
    text = to_sql(MAPS["step"], column='p" OR 1=1 --')
    assert '"p"" OR 1=1 --"' in text
    columns = {c.name for c in sqlglot.parse_one(text, dialect="duckdb").find_all(sqlglot.exp.Column)}
    assert columns == {'p" OR 1=1 --'}


def test_numbers_survive_to_the_last_bit():
    rng = np.random.default_rng(2)
    values = rng.random(200) * 10.0 ** rng.integers(-9, 0, 200)
    map_ = CalibrationMap(functions.Step(np.arange(1.0, 200.0), values))
    assert np.array_equal(run_duckdb(to_sql(map_), np.arange(1.0, 201.0)), values)


def test_the_questions_are_log_many_deep():
    map_ = CalibrationMap(functions.Step(np.arange(1.0, 256.0), np.linspace(0, 1, 256)))
    case = sqlglot.parse_one(to_sql(map_), dialect="duckdb")
    depth = 0
    while case.find(sqlglot.exp.Case):
        case = case.find(sqlglot.exp.Case).args["ifs"][0].args["true"]
        depth += 1
        if not isinstance(case, sqlglot.exp.Case):
            break
    assert depth == 1 + 8


def test_an_unknown_dialect_is_refused():
    with pytest.raises(InvalidInputError, match="`dialect` must be one that sqlglot writes"):
        to_sql(MAPS["step"], dialect="cobol")
    with pytest.raises(InvalidInputError, match=r"got 'mssql'\. It is called 'tsql' here\."):
        to_sql(MAPS["step"], dialect="mssql")


def postgres_binaries():
    """The folder with the server and its client, if there is one."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if shutil.which("initdb"):
        folders.append(Path(shutil.which("initdb")).resolve().parent)
    return next((f for f in folders if all((f / name).exists() for name in ("initdb", "pg_ctl", "psql"))), None)


@pytest.fixture(scope="module")
def postgres():
    """A server on a temporary folder; it refuses to run as root, so root starts it as the user postgres."""
    binaries = postgres_binaries()
    if binaries is None:
        pytest.skip("the binaries of Postgres are not installed")
    prefix = []
    # Not below pytest's own folder, whose parents only their owner may enter.
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("Postgres does not run as root, and there is no user postgres")
        prefix = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    call = lambda *command: subprocess.run([*prefix, *map(str, command)], check=True, capture_output=True, cwd="/")  # noqa: E731
    call(binaries / "initdb", "-D", folder / "data", "-A", "trust", "-U", "postgres", "--no-sync")
    options = f"-p {port} -k {folder} -c listen_addresses='' -c fsync=off"
    call(binaries / "pg_ctl", "-D", folder / "data", "-o", options, "-l", folder / "log", "-w", "start")

    def query(sql):
        command = [
            *prefix,
            str(binaries / "psql"),
            "-h",
            str(folder),
            "-p",
            port,
            "-U",
            "postgres",
            "-At",
            "-v",
            "ON_ERROR_STOP=1",
        ]
        done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False, cwd="/")
        assert done.returncode == 0, done.stderr[:1000]
        return done.stdout.split("\n")

    yield query
    call(binaries / "pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("name", MAPS)
def test_a_real_postgres_computes_the_map(postgres, name):
    map_ = MAPS[name]
    scores = parity.probe(map_)
    rows = ",".join(f"({i},'{score!r}'::float8)" for i, score in enumerate(scores.tolist()))
    text = to_sql(map_, dialect="postgres")
    out = postgres(
        f"SELECT {text} FROM (VALUES {rows}, (99999999, NULL), (99999999, 'NaN')) AS t (i, score) ORDER BY i;"
    )
    got = [np.nan if line == "" else float(line) for line in out[: len(scores) + 2]]
    np.testing.assert_allclose(got[: len(scores)], map_(scores), rtol=0, atol=1e-12)
    assert np.isnan(got[len(scores) :]).all()


@pytest.mark.parametrize("name", [*MAPS, "long"])
def test_sqlite_is_run_by_sqlite(name):
    z = np.linspace(-8.0, 8.0, 350)
    long = CalibrationMap(functions.LogitLinear(z, 0.7 * z + 0.1 * np.sin(z), 0.0, 0.0), "probability", True)
    map_ = long if name == "long" else MAPS[name]
    text = to_sql(map_, dialect="sqlite", column="a b.p")
    scores = np.random.default_rng(0).random(500)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute('CREATE TABLE "a b" (p REAL)')
        connection.executemany('INSERT INTO "a b" VALUES (?)', [(s,) for s in scores.tolist()])
        connection.execute('INSERT INTO "a b" VALUES (NULL)')
        found = [row[0] for row in connection.execute(f'SELECT {text} FROM "a b" ORDER BY rowid')]
    assert found[-1] is None
    np.testing.assert_allclose(found[:-1], map_(scores), rtol=0, atol=1e-12)


def test_a_map_of_many_pieces_says_how_far_its_sql_is():
    x = np.linspace(0.0, 1.0, 3001)
    map_ = CalibrationMap(functions.Linear(x, x**3), "probability", True)
    text = to_sql(map_)
    scores = np.random.default_rng(0).random(500)
    assert 0.0 < np.abs(run_duckdb(text, scores) - map_(scores)).max() <= distance(text) < 1e-5
    assert len(text) < 60_000
