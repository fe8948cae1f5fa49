"""`onlinear predict`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from onlinear.cli.command import Command, debug_option
from onlinear.cli.models import load_model
from onlinear.cli.options import custom_rule_option, data_argument, format_options, open_data, paths, strict_option
from onlinear.cli.output import visible
from onlinear.cli.places import STDIN
from onlinear.errors import DataError, EmptyFileError

_AT_A_TIME = 1 << 12
"""The number of lines that are written at a time."""


@click.command("predict", cls=Command)
@click.argument("model", type=click.Path())
@data_argument
@click.option(
    "--scores",
    is_flag=True,
    help="Print the score after the label and a tab. Scores above 0 predict the second label.",
)
@strict_option
@custom_rule_option
@format_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
@debug_option
def predict_command(
    model: str, data: tuple[str, ...], scores: bool, strict: bool, rule: str | None, as_json: bool, **reading: Any
) -> None:
    """Predict the labels of DATA with MODEL.

    Prints one label per line, in the order of the examples, and nothing else. Columns are read as they were when the
    model was trained. Labels in DATA are optional, and ignored. Empty input prints nothing.

    \b
    onlinear predict model new.svm > predictions
    """
    import numpy as np

    from onlinear.data.one_label import plain

    run = load_model(model, rule)
    try:
        stream = open_data(data, reading, like=run, labelled=False)
    except DataError as error:
        if _are_empty(paths(data), error):
            return
        raise
    names = {label: visible(str(label)) for label in map(plain, run.classes)}
    for labels, values in run.predictions(stream, strict=strict):
        for first in range(0, labels.size, _AT_A_TIME):
            some = slice(first, first + _AT_A_TIME)
            pairs = zip(map(plain, labels[some]), values[some].tolist(), strict=True)
            if as_json:
                objects = ({"prediction": label, **({"score": score} if scores else {})} for label, score in pairs)
                lines = [json.dumps(one) for one in objects]
            elif scores:
                lines = ["\t".join([names[label], *map(repr, np.atleast_1d(score).tolist())]) for label, score in pairs]
            else:
                lines = [names[label] for label, _ in pairs]
            click.echo("\n".join(lines))


def _are_empty(data: list[str], error: DataError) -> bool:
    """Tell whether data that could not be opened are empty."""
    if data == [STDIN]:  # only reading it shows whether it is empty
        return isinstance(error, EmptyFileError)
    return all(Path(each).is_file() and Path(each).stat().st_size == 0 for each in data)
