"""Progress reports: a line whenever the number of rounds has doubled, and on a terminal a progress bar."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from onlinear.cli.output import say, show_json

if TYPE_CHECKING:
    from onlinear.runs import Progress

_HEAD = f"{'rounds':>13}  {'mistakes':>11}  {'rate':>7}  {'since last':>10}  {'seconds':>8}"


class Watch:
    """Reports the progress of training, as text on the standard error or as JSON on the standard output.

    `before` is the number of rounds before the first pass, if it is known; then the length of a pass is known after
    the first.
    """

    def __init__(
        self,
        facts: dict[str, Any],
        *,
        as_json: bool,
        quiet: bool,
        passes: int,
        before: int | None,
        notice: str = "",
    ) -> None:
        self._facts, self._notice_first = facts, notice
        self._json, self._quiet, self._passes = as_json, quiet, passes
        self._started = False
        self._pass, self._first, self._length = -1, before, 0
        self._last = before or 0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if not self._quiet and not self._json and sys.stderr.isatty():
            self._bar, self._task = _bar()
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Show a report."""
        if self._quiet:
            return
        if not self._started:
            self._started = True
            self._start(progress.classes)
        if progress.mark:
            self._mark(progress)
        if progress.disorder is not None:
            self._notice(progress.disorder, progress.rounds)
        if self._bar is not None:
            self._move(progress)

    def _start(self, classes: Any) -> None:
        if self._json:
            show_json(event="start", labels=classes, **self._facts)
        else:
            for line in filter(None, (self._notice_first, mapping(classes), _HEAD)):
                self._say(line)

    def _mark(self, p: Progress) -> None:
        if self._json:
            facts = {name: value for name, value in p._asdict().items() if name not in {"mark", "classes", "disorder"}}
            show_json(event="progress", **facts, rate=p.mistakes / p.rounds)
            return
        rate, recent = f"{p.mistakes / p.rounds:.2%}", f"{p.recent_mistakes / max(1, p.recent_rounds):.2%}"
        self._say(f"{p.rounds:>13,}  {p.mistakes:>11,}  {rate:>7}  {recent:>10}  {p.seconds:>8.2f}")

    def _notice(self, place: str, rounds: int) -> None:
        from onlinear.runs.baselines import in_another_order

        if self._json:
            show_json(event="order", place=place, rounds=rounds)
        else:
            how = "--shuffle N, with N at least their number"
            self._say(f"{place}: the labels up to here are not in random order. {in_another_order(how)}")

    def _move(self, p: Progress) -> None:
        if p.passes != self._pass:
            # A pass starts at the count of the last report of the previous one.
            if self._pass >= 0 and self._first is not None:
                self._length = self._last - self._first
            if self._pass >= 0:
                self._first = self._last
            self._pass = p.passes
        done = p.rounds - (self._first or 0)
        self._bar.update(
            self._task,
            completed=done,
            total=self._length or None,
            description=f"pass {p.passes + 1}/{self._passes}",
            state=f"{p.rounds:,} rounds, {p.mistakes / p.rounds:.2%} mistakes",
        )
        self._last = p.rounds

    def _say(self, text: str) -> None:
        if self._bar is None:
            say(text)
        else:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)


def show_labels(classes: Any, *, as_json: bool, quiet: bool, columns: dict[str, str] | None) -> None:
    """Print the labels; of two, which is negative and which is positive. JSON has the columns of a table, too."""
    if quiet or classes is None:  # there are no examples; reading them will raise the error
        return
    if as_json:
        show_json(event="start", labels=classes, columns=columns)
    else:
        say(mapping(classes))


def mapping(classes: Any) -> str:
    """Return the labels as text; of two, which is negative and which is positive."""
    from onlinear.data.labels import list_labels
    from onlinear.data.one_label import show

    if classes.size != 2:
        return f"labels: {classes.size:,}: {list_labels(classes)}"
    negative, positive = map(show, classes)
    return f"labels: {negative} → negative, {positive} → positive"


@contextlib.contextmanager
def working(what: str, *, quiet: bool) -> Iterator[Callable[..., None]]:
    """Show a spinner on a terminal; yield a function that shows a step."""
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console

    with Console(stderr=True).status(what, spinner="line") as status:

        def show_step(step: Any) -> None:
            if isinstance(step, int):
                status.update(f"{what}: {step:,} examples")
            else:
                status.update(f"{what}: {step.lower:.6g} to {step.upper:.6g}, step {step.number}")

        yield show_step


def _bar() -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn
    from rich.text import Text

    class Speed(ProgressColumn):
        """Rounds per second."""

        def render(self, task: Any) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f}/s")

    columns = (
        SpinnerColumn("line"),
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TextColumn("{task.fields[state]}"),
        Speed(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    return bar, bar.add_task("starting", total=None, state="")
