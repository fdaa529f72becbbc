"""Solve every public instance of a collection with one solver and show the gap to the best-known values.

    python benchmarks/public_files.py COLLECTION [--solver NAME] [-t SECONDS] [--problems tsp,cvrp] [-o OUT.jsonl]

A collection is a folder with a table ``bks.csv`` whose columns are problem, set, name, file, n, bks,
objective_convention and vehicle_limit. Each solve is a process of its own, by the command line, as a user would run it;
its JSON goes to OUT.jsonl, one line a file, for any other judge to read.
"""

import csv
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

ALLOWED_OVERRUN = 0.03, 0.3
"""As a share of the time limit, and in seconds."""


def main(
    collection: Path,
    solver: str = "auto",
    seconds: Annotated[float, typer.Option("-t")] = 5.0,
    problems: str = "tsp,cvrp,vrptw,tsptw,tspdl,milp",
    largest: Annotated[int, typer.Option(help="Leave out routing files with more nodes.")] = 1001,
    jobs: int = 1,
    seed: int = 0,
    output: Annotated[Path, typer.Option("-o")] = Path("public_files.jsonl"),
) -> None:
    """Run all, write the records, print a table a set."""
    with open(collection / "bks.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["problem"] in problems.split(",")]
    rows = [row for row in rows if row["problem"] == "milp" or int(row["n"]) <= largest]
    options = ["--solver", solver, "-t", str(seconds), "--seed", str(seed)]
    with ThreadPoolExecutor(jobs) as pool:
        records = list(pool.map(lambda row: run(collection, row, options), rows))
    output.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    Console(width=120).print(table(rows, records, seconds))


def run(collection: Path, row: dict[str, str], options: list[str]) -> dict[str, Any]:
    """The JSON record of one solve, under the convention of the best-known value."""
    command = [sys.executable, "-m", "ncosolve", "solve", str(collection / row["file"]), "--json", *options]
    command += rounding(row["objective_convention"].lower())
    if row["problem"] == "cvrp" and row["vehicle_limit"]:
        command += ["--max-vehicles", row["vehicle_limit"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.stdout else {"instance": row["file"], "status": done.stderr.strip()}


def rounding(convention: str) -> list[str]:
    """The option that a convention of the table asks for."""
    for words, rule in (("dimacs", "dimacs"), ("double precision", "exact"), ("euc_2d rounded nint", "nint")):
        if words in convention:
            return ["--rounding", rule]
    return []


def table(rows: list[dict[str, str]], records: list[dict[str, Any]], seconds: float) -> Table:
    """Gaps, proofs, failures and overruns of each set of files."""
    groups: dict[str, list[tuple[dict[str, str], dict[str, Any]]]] = defaultdict(list)
    for row, record in zip(rows, records, strict=True):
        groups[f"{row['problem']} {row['set']}"].append((row, record))
    share, extra = ALLOWED_OVERRUN
    shown = Table("set", "files", "solved", "optimal", "at best known", "mean gap %", "median %", "largest %", "late")
    for name, members in groups.items():
        solved = [(row, record) for row, record in members if record.get("cost") is not None]
        gaps = [100 * gap(row, record) for row, record in solved if row["bks"]]
        late = sum(record["time"] > seconds * (1 + share) + extra for _, record in solved)
        shown.add_row(
            name,
            str(len(members)),
            str(len(solved)),
            str(sum(record["status"] == "optimal" for _, record in solved)),
            f"{sum(each <= 1e-3 for each in gaps)} of {len(gaps)}",
            *(f"{figure(gaps):.3f}" if gaps else "" for figure in (statistics.mean, statistics.median, max)),
            str(late),
        )
    return shown


def gap(row: dict[str, str], record: dict[str, Any]) -> float:
    """(cost - best known) / |best known|; the absolute difference where that is 0."""
    best = float(row["bks"])
    return (record["cost"] - best) / (abs(best) or 1.0)


if __name__ == "__main__":
    typer.run(main)
