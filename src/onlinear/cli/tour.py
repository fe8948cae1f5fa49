"""`python -m onlinear.cli.tour`, which `make run` calls: an experiment, a run over real data, and a report on it."""

from __future__ import annotations

import csv
import multiprocessing
import shlex
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from onlinear.cli.notices import notices
from onlinear.report import report
from onlinear.rules import Majority
from onlinear.runs import train
from onlinear.spelling import command_line
from onlinear.streams import open_stream

_LABEL = "diagnosis"


def show_tour(folder: Path = Path("build")) -> None:
    """Show the tour; the data and the report are written to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    data, page = folder / "breast-cancer.csv", folder / "report.html"
    _say("The first run compiles the rules, once per machine: about 15 seconds.\n")
    # In a process of its own: while one compiles, so does the other.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as other, notices(quiet=False):
        experiment = other.submit(_figure2)
        _write_bundled(data)
        rule: Any = Majority()
        run = train(rule, open_stream(data, label=_LABEL), trace="curve")
        command = shlex.join(["onlinear", "report", str(data), "--output", str(page), "--label", _LABEL])
        with command_line({"shuffle": "--shuffle"}):
            summary = repr(run)
            report(run, open_stream(data, like=run), data=data.name, command=command).save(page)
    _say(f"$ onlinear reproduce figure2 --size small\n\n{experiment.result()}\n")
    _say(f"$ onlinear train {data} --label {_LABEL}\n\n{summary}\n")
    _say(f"$ {command}\n\nwritten to {page.resolve()}: open it in a browser")


def _figure2() -> str:
    from onlinear.experiments import figure2

    return repr(figure2("small"))


def _write_bundled(path: Path) -> None:
    """Write a data set that comes with scikit-learn: measurements of 569 tumours, and their diagnosis."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow([*bunch.feature_names, _LABEL])
        rows.writerows([*x, bunch.target_names[y]] for x, y in zip(bunch.data.tolist(), bunch.target, strict=True))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    show_tour(*map(Path, sys.argv[1:]))
