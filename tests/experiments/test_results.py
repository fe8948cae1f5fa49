"""What every experiment returns: data, pictures, a table, text; progress and seeds."""

import html
import itertools

import numpy as np
import pytest

from onlinear import experiments
from onlinear.display import TextTable
from onlinear.errors import ParameterError
from onlinear.experiments import EXPERIMENTS
from onlinear.pictures import Picture
from onlinear.pictures.svg import svg

NAMES = list(EXPERIMENTS)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seeds_give_the_same_data(small, name):
    found, again = small(name), EXPERIMENTS[name]("small")
    assert found.frame().equals(again.frame()) or _equal_but_for_nan(found.frame(), again.frame())
    assert found.finding == again.finding
    for one, other in zip(found.pictures, again.pictures, strict=True):
        assert svg(one) == svg(other)


def _equal_but_for_nan(one, other):
    return repr(one.to_pydict()) == repr(other.to_pydict())


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_alone_gives_its_own_rows(small, name):
    found = small(name)
    alone = EXPERIMENTS[name]("small", seeds=(1,))
    wanted = [row for row in found.frame().to_pylist() if row["seed"] == 1]
    assert repr(alone.frame().to_pylist()) == repr(wanted)
    assert alone.seeds == (1,)


@pytest.mark.parametrize("name", NAMES)
def test_pictures(small, name):
    found = small(name)
    titles = [picture.title for picture in found.pictures]
    assert len(set(titles)) == len(titles) >= 1
    for picture in found.pictures:
        assert isinstance(picture, Picture)
        assert picture.layers
        assert picture.frame().num_rows == sum(layer.x.size for layer in picture.layers)
        for layer in picture.layers:
            drawn = layer.y if layer.kind == "level" else np.concatenate([layer.x, layer.y])
            assert np.isfinite(drawn).all(), (picture.title, layer.name)
            for axis, values in ((picture.x, layer.x), (picture.y, layer.y)):
                # On a logarithmic axis what is 0 would not be seen.
                assert not axis.log or (values[np.isfinite(values)] > 0).all(), (picture.title, layer.name)
        assert picture.title.split(":")[0] in html.unescape(svg(picture))


@pytest.mark.parametrize("name", NAMES)
def test_text(small, name):
    found = small(name)
    shown = repr(found)
    assert shown.splitlines()[0] == f"{found.title} (small size, seeds {', '.join(map(str, found.seeds))})"
    assert isinstance(found.table, TextTable)
    assert found.table.text() in shown
    assert " ".join(shown.split()).endswith(f"Finding: {' '.join(found.finding.split())}")
    assert "not separable" not in shown
    assert found.table.html() in found._repr_html_()
    assert EXPERIMENTS[name].question in repr(EXPERIMENTS[name])


@pytest.mark.parametrize("name", NAMES)
def test_theorems_have_names(small, name):
    """No number of a theorem without its name."""
    found = small(name)
    texts = [found.finding, *(cell for row in found.table.rows for cell in row), *found.table.names]
    for picture in found.pictures:
        texts += [picture.title, picture.x.label, picture.y.label, *(layer.name for layer in picture.layers)]
    for text in texts:
        for number in (f"P{k}" for k in range(1, 14)):
            assert text.count(number) == text.count(f"({number})") + sum(
                text.count(f"{number}{digit}") for digit in range(10)
            ), text


def test_the_main_pictures_have_the_data(small):
    """A sample of each kind of layer, against the columns."""
    found = small("figure2")
    over_time, over_widths, _ = found.pictures
    data = found.frame().to_pylist()

    def counts(rule, N):
        return [r["mistakes"] for r in data if (r["rule"], r["N"], r["r"]) == (rule, N, 1)]

    lines = {layer.name: layer for layer in over_time.layers if layer.kind == "line"}
    bands = [layer for layer in over_time.layers if layer.kind == "band"]
    for (name, line), band in zip(lines.items(), bands, strict=True):
        rule, N = name.split(", N = ")
        assert (line.x[0], line.y[0], line.x[-1]) == (0, 0, 4_000)
        assert line.y[-1] == np.median(counts(rule, int(N)))
        assert (band.low[-1], band.high[-1]) == (min(counts(rule, int(N))), max(counts(rule, int(N))))
        assert (np.diff(line.y) >= 0).all()
    named = {layer.name: layer for layer in over_widths.layers if layer.name}
    assert named["Winnow"].y.tolist() == [np.median(counts("Winnow", N)) for N in (200, 400, 800)]
    bounds = [min(r["bound"] for r in data if (r["rule"], r["N"], r["r"]) == ("Winnow", N, 1)) for N in (200, 400, 800)]
    assert named["Winnow mistake bound"].y.tolist() == bounds

    found = small("noise")
    named = {layer.name: layer for layer in found.pictures[0].layers if layer.name}
    assert named["mistakes of the perceptron"].x.tolist() == [0.0, 0.05, 0.2]
    assert named["guessing"].y.tolist() == [1_000.0]

    cells = small("rules").pictures[0].layers[0]
    data = small("rules").frame().to_pylist()
    winnow = np.median([r["mistakes"] for r in data if r["rule"] == "Winnow"]) / 2_000
    assert f"{winnow:.1%}" in cells.texts
    assert cells.texts.count("") == 5 * 8 - len({(r["stream"], r["rule"]) for r in data})


def test_a_result_is_drawn(small):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    ax = small("convergence").plot()
    assert ax.get_xlabel() == "largest margin γ"
    drawn = [line.get_xdata().tolist() for line in ax.lines]
    assert drawn == [[1.0, 0.3, 0.1, 0.03]] * 2
    plt.close(ax.figure)


@pytest.mark.parametrize("name", ["figure1", "order", "noise"])
def test_progress(name):
    calls = []
    EXPERIMENTS[name]("small", seeds=2, progress=lambda done, total: calls.append((done, total)))
    assert calls
    assert calls[-1][0] == calls[-1][1]
    # Each stage counts from 1 to all of its cases.
    assert all(done == 1 or (done - 1, total) == before for before, (done, total) in itertools.pairwise(calls))


def test_experiments_are_found_by_name():
    assert NAMES == ["figure2", "figure1", "convergence", "order", "margin", "batch", "experts", "noise", "rules"]
    for name, one in EXPERIMENTS.items():
        assert getattr(experiments, name) is one
        assert name in experiments.__all__


@pytest.mark.parametrize(
    ("options", "message"),
    [({"size": "large"}, 'it must be "small" or "full"'), ({"seeds": 0}, "at least one"), ({"seeds": (-1,)}, "seeds")],
)
def test_arguments(options, message):
    with pytest.raises(ParameterError, match=message):
        experiments.figure1(**({"size": "small"} | options))
