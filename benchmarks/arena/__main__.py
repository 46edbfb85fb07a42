"""The command line of the arena: run, summary, picture; with --multiclass, that of several classes."""

from __future__ import annotations

import argparse
import sys
from itertools import chain
from pathlib import Path

from benchmarks.arena import methods, runner, sources, summary, tables


def main(arguments: list[str] | None = None) -> None:
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["--multiclass"]:
        from benchmarks.arena import multiclass

        multiclass.main(given[1:])
        return
    options = _parser().parse_args(given)
    options.act(options)


def _run(options: argparse.Namespace) -> None:
    wanted = []
    if options.data:
        wanted.append(sources.folder(options.data))
    if options.simulations or not (options.data or options.sklearn or options.heldout):
        wanted.append(sources.simulations())
    if options.sklearn:
        wanted.append(sources.sklearn_sets())
    if options.heldout:
        wanted.append(sources.heldout_tables())
    tasks = sources.chosen(chain(*wanted), options.tasks)
    plan = runner.Plan(
        methods.chosen(options.methods), options.sizes, list(range(options.reps)), options.limit, options.clip
    )
    runner.run(tasks, plan, options.out, options.jobs, options.retry)


def _summary(options: argparse.Namespace) -> None:
    rows = summary.read([*options.rows, *options.peers_csv], options.tasks)
    for loss in summary.LOSSES:
        table = summary.summarise(rows, loss).round(3)
        print(f"\n{loss}, {rows['task'].nunique()} tasks")
        print(tables.measures(table) if options.markdown else table.to_string())
        for n in table["win"].columns:
            result = summary.ranking(rows, loss, n)
            ranks = ", ".join(f"{name} {rank:.1f}" for name, rank in result.ranks.head(options.top).items())
            print(
                f"n = {n}, {result.n_tasks} tasks: Friedman p = {result.p_value:.1g}, critical difference "
                f"{result.critical_difference:.2f}; average ranks {ranks}"
            )
            if summary.DEFAULT in table.index:
                print(f"n = {n}, behind {summary.DEFAULT}, errors clustered by source")
                print(summary.behind(rows, loss, n).round(2).to_string())
    if options.markdown and summary.DEFAULT in rows["method"].to_numpy():
        print(f"\nBehind {summary.DEFAULT}, × 1000, errors clustered by source\n{tables.gaps(rows)}")
        if rows["task"].str.startswith("heldout_").all():
            print(f"\nThe same by learner\n{tables.gaps_by_learner(rows)}\n\nWin-rates\n{tables.wins(rows)}")
    failed = rows[rows["error"].notna()]
    for error, group in failed.groupby("error"):
        names = group["method"].unique()
        print(f"{len(group)} rows of {', '.join(names) if len(names) < 4 else f'{len(names)} methods'}: {error}")


def _picture(options: argparse.Namespace) -> None:
    from benchmarks.arena import picture

    rows = summary.read([*options.rows, *options.peers_csv], options.tasks)
    # Doing nothing is shown once.
    drop = ("calibrant.identity",) if (rows["method"] == summary.RAW).any() else ()
    result = summary.ranking(rows, options.loss, options.n, drop=drop)
    name = {"log_loss": "log-loss", "brier": "Brier score"}[options.loss]
    picture.draw(result, f"{name} on {result.n_tasks} tasks, calibrated on {options.n} rows", options.out)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena", description="Calibrators against each other.")
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="append rows to a CSV file, skipping those that it holds")
    run.add_argument("--out", type=Path, required=True)
    run.add_argument("--data", type=Path, help="a folder of tables (score, label), with an INDEX.csv (task, space)")
    run.add_argument("--simulations", action="store_true", help="simulations with known truth; the default source")
    run.add_argument("--sklearn", action="store_true", help="scikit-learn's own data sets with ten learners")
    run.add_argument("--heldout", action="store_true", help="the tables of heldout.md, with its learners")
    run.add_argument("--tasks", nargs="*", default=[], help="patterns of task names, such as 'sim.*'")
    run.add_argument("--methods", nargs="*", default=[], help="patterns such as 'calibrant.*', or package:Class")
    run.add_argument("--sizes", nargs="+", type=int, default=[100, 1000, 3000])
    run.add_argument("--reps", type=int, default=1)
    run.add_argument("--jobs", type=int, default=1)
    run.add_argument("--limit", type=float, default=60.0, help="seconds; a slower method is skipped at larger sizes")
    run.add_argument(
        "--clip", type=float, default=runner.CLIP, help="of predictions; recorded results have the default"
    )
    run.add_argument("--retry", action="store_true", help="run again what failed or was skipped")
    run.set_defaults(act=_run)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("rows", nargs="+", help="CSV files of `run`")
    shared.add_argument("--peers-csv", nargs="*", default=[], help="recorded results to join")
    shared.add_argument("--tasks", help="a regular expression of task names")
    show = commands.add_parser("summary", parents=[shared], help="win-rates, excess, harm, time and ranks")
    show.add_argument("--markdown", action="store_true")
    show.add_argument("--top", type=int, default=5, help="how many average ranks to show")
    show.set_defaults(act=_summary)
    picture = commands.add_parser("picture", parents=[shared], help="a critical-difference diagram as PNG")
    picture.add_argument("--n", type=int, default=1000)
    picture.add_argument("--loss", choices=summary.LOSSES, default="log_loss")
    picture.add_argument("--out", type=Path, required=True)
    picture.set_defaults(act=_picture)
    return parser


if __name__ == "__main__":
    main()
