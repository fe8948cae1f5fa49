"""What matplotlib draws: the data of the picture, with every label, legible in both themes."""

import inspect
import pydoc
import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

import onlinear
from onlinear import Potentials, plot, rules
from onlinear.errors import ParameterError
from onlinear.pictures import Axis, Layer, Picture
from onlinear.pictures.palette import DARK, LIGHT, layer_numbers
from onlinear.plot.style import luminance

mpl.use("Agg")

THEMES = {"light": LIGHT, "dark": DARK}


@pytest.fixture(autouse=True)
def _close_figures():
    """Close all figures: pyplot keeps them, and warns where there are many."""
    yield
    plt.close("all")


def results():
    """Return what each function takes: positional arguments and options."""
    data = onlinear.datasets.separable(0.1, 200, 4, seed=3)
    flat = onlinear.datasets.separable(0.2, 40, 2, seed=3)
    advice = onlinear.datasets.experts(5, 100, best=0.2, seed=1)
    run = onlinear.converge(rules.Perceptron(), *data, trace=Potentials(data.comparator, weights=True))
    certificate = onlinear.certify(run, *data)
    in_plane = onlinear.converge(rules.Perceptron(), *flat, fit_intercept=True, trace=Potentials(weights=True))
    experts = onlinear.run(rules.WeightedMajority(), *advice, trace=Potentials())
    return {
        "mistakes": ((run,), {"bounds": certificate}),
        "compare": ((onlinear.compare("all", *data, trace="curve"),), {}),
        "potentials": ((run,), {}),
        "margin": ((run, *data), {"interval": onlinear.max_margin(*data)}),
        "boundary": ((in_plane, *flat), {}),
        "regret": ((experts,), {}),
        "weights": ((run,), {"top": 3}),
        "confusion": ((run.evaluate(*data),), {}),
        "bounds": ((certificate,), {}),
    }


@pytest.fixture(scope="module")
def given():
    return results()


def drawn_points(ax, layer):
    """Return the points of the artists on the axes that could stand for a layer, as arrays of x and y."""
    match layer.kind:
        case "line" | "path":
            return [line.get_xydata() for line in ax.lines]
        case "points":
            return [np.asarray(points.get_offsets()) for points in ax.collections]
        case "level":
            return [np.array([[np.nan, line.get_ydata()[0]]]) for line in ax.lines]
        case "bars":
            bars = [bar for bar in ax.patches if isinstance(bar, Rectangle)]
            ends = np.array([[bar.get_x() + bar.get_width(), bar.get_y() + bar.get_height() / 2] for bar in bars])
            return [ends[i : i + layer.x.size] for i in range(len(ends) - layer.x.size + 1)]
        case "cells":
            return [np.array([text.get_position() for text in ax.texts])]
    return []


@pytest.mark.parametrize("name", sorted(plot.__all__))
@pytest.mark.parametrize("theme", [None, *THEMES])
def test_the_axes_have_the_data_of_the_picture_and_all_labels(given, name, theme):
    if name == "draw":
        return
    arguments, options = given[name]
    function = getattr(plot, name)
    picture = function.picture(*arguments, **options)
    ax = function(*arguments, **options, theme=theme)
    ax.figure.canvas.draw()  # nothing warns, of glyphs or of too little room
    for layer in picture.layers:
        if layer.kind == "cells":
            expected = np.stack([layer.x, layer.y], axis=1)[[bool(text) for text in layer.texts]]
            assert [text.get_text() for text in ax.texts] == [text for text in layer.texts if text]
        else:
            expected = np.stack([layer.x, layer.y], axis=1)
        assert any(
            points.shape == expected.shape and np.allclose(points, expected, equal_nan=True)
            for points in drawn_points(ax, layer)
        ), layer.name
    assert ax.get_title(loc="left") == picture.title
    assert ax.get_xlabel() == picture.x.label != ""
    assert ax.get_ylabel() or picture.y.names
    shown = [text.get_text().strip() for legend in ax.figure.legends for text in legend.get_texts()]
    assert shown == list(dict.fromkeys(layer.name for layer in picture.layers if layer.name)) or len(shown) == 0
    if len({layer.name for layer in picture.layers if layer.name}) > 1:
        assert shown
    written = "".join(text.get_text() for text in ax.figure.texts).split()
    assert written == " ".join(picture.notes).split()
    if picture.y.names:
        names = [" ".join(text.get_text().split()) for text in ax.get_yticklabels()]
        assert names == [" ".join(each.split()) for each in picture.y.names]


@pytest.mark.parametrize("name", sorted(set(plot.__all__) - {"draw"}))
def test_a_frame_has_the_points_of_the_picture(given, name):
    arguments, options = given[name]
    function = getattr(plot, name)
    frame = function.frame(*arguments, **options)
    layers = function.picture(*arguments, **options).layers
    for column in ("x", "y"):
        joined = np.concatenate([getattr(layer, column) for layer in layers])
        assert np.array_equal(frame[column].to_numpy(), joined, equal_nan=True)
    assert frame["series"].to_pylist() == [layer.name for layer in layers for _ in layer.x]


# --- Legible ----------------------------------------------------------------------------------------


def contrast(one, other):
    """Return the contrast of two colours as WCAG defines it, from 1 to 21."""
    low, high = sorted([luminance(to_rgb(one)), luminance(to_rgb(other))])
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", THEMES)
def test_text_and_lines_stand_out_from_the_paper(given, theme):
    for name, (arguments, options) in given.items():
        ax = getattr(plot, name)(*arguments, **options, theme=theme)
        paper = ax.get_facecolor()
        assert to_rgb(paper) == to_rgb(THEMES[theme].paper) == to_rgb(ax.figure.get_facecolor())
        texts = [ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels(), *ax.texts]
        texts += [*ax.figure.texts, *(text for legend in ax.figure.legends for text in legend.get_texts())]
        texts.append(
            next(child for child in ax.get_children() if getattr(child, "get_text", str)() == ax.get_title("left"))
        )
        for text in texts:
            assert not text.get_text() or contrast(text.get_color(), paper) >= 4.5, (name, text)
        for line in ax.lines:
            assert contrast(line.get_color(), paper) >= 3.0, (name, line)


MACHADO = {  # Machado, Oliveira & Fernandes (2009), severity 1, on linear RGB
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
}


def lab(colour, matrix):
    """Return a colour as somebody with a colour deficiency sees it, in CIELAB."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(matrix) @ linear, 0.0, 1.0)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    ratio = xyz / [0.9505, 1.0, 1.089]
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("deficiency", MACHADO)
def test_the_colours_of_two_and_three_classes_differ_for_colour_blind_eyes(theme, deficiency):
    seen = [lab(colour, MACHADO[deficiency]) for colour in THEMES[theme].series[:3]]
    for i, one in enumerate(seen):
        for other in seen[:i]:
            assert np.linalg.norm(one - other) > 20.0


def test_the_way_of_the_weights_has_no_colour_of_a_class():
    X, y = onlinear.datasets.separable(0.05, 60, 2, seed=4)
    run = onlinear.run(rules.Perceptron(), X, y, trace=Potentials(weights=True))
    picture = plot.boundary.picture(run, X, y)
    assert any(layer.kind == "path" for layer in picture.layers)
    numbers = layer_numbers(picture.layers)
    classes, series = (
        {number for number, layer in zip(numbers, picture.layers, strict=True) if layer.role == role}
        for role in ("class", "series")
    )
    assert not classes & series
    assert len(series) == 3  # separator, updates, way


@pytest.mark.parametrize("theme", THEMES)
def test_counts_are_legible_on_the_darkest_cell(given, theme):
    ax = plot.confusion(*given["confusion"][0], theme=theme)
    (image,) = ax.images
    for *colour, opacity in image.get_array().reshape(-1, 4).tolist():
        blended = opacity * np.array(colour) + (1 - opacity) * np.array(to_rgb(THEMES[theme].paper))
        assert contrast(THEMES[theme].ink, blended) >= 4.5


def test_lines_differ_in_more_than_colour(given):
    for name in ("mistakes", "compare", "potentials", "margin", "boundary"):
        arguments, options = given[name]
        ax = getattr(plot, name)(*arguments, **options)
        handles = [handle for legend in ax.figure.legends for handle in legend.legend_handles]
        strokes = [
            (line.get_linestyle(), str(line._unscaled_dash_pattern)) for line in handles if hasattr(line, "get_marker")
        ]
        assert len(strokes) >= 2
        assert len(strokes) == len(set(strokes)), name


# --- Axes -------------------------------------------------------------------------------------------


def test_axes_that_are_given_are_drawn_on_and_keep_their_look(given):
    (run,), options = given["mistakes"]
    figure, (left, right) = plt.subplots(1, 2, facecolor="#eeeeee")
    before = dict(mpl.rcParams), plt.get_fignums()
    assert plot.mistakes(run, **options, ax=right) is right
    assert (dict(mpl.rcParams), plt.get_fignums()) == before
    assert not left.lines
    assert to_rgb(right.get_facecolor()) == (1.0, 1.0, 1.0)
    assert right.spines["top"].get_visible()
    assert right.get_legend() is not None
    assert figure.get_size_inches().tolist() == mpl.rcParams["figure.figsize"]
    figure.canvas.draw()


def test_a_second_picture_on_the_same_axes_leaves_the_first_in_sight():
    X, y = onlinear.datasets.noisy(n=300, seed=1)
    long, short = (onlinear.run(rules.Perceptron(), X[:n], y[:n], trace=True) for n in (300, 100))
    ax = plot.mistakes(long)
    plot.mistakes(short, ax=ax)
    assert ax.get_xlim()[1] == 300
    assert ax.get_ylim()[1] >= long.mistakes


@pytest.mark.parametrize(("background", "theme"), [("white", LIGHT), ("#101010", DARK), ("none", DARK)])
def test_the_theme_follows_the_background(background, theme):
    _, ax = plt.subplots(facecolor="black")
    ax.set_facecolor(background)
    plot.draw(Picture("T", Axis("x"), Axis("y"), (Layer.of("a", [0, 1], [1, 2]),)), ax)
    assert ax.lines[0].get_color() == theme.series[0]


def test_a_dark_style_gives_a_dark_picture(given):
    (run,), options = given["mistakes"]
    with plt.style.context("dark_background"):
        ax = plot.mistakes(run, **options)
    assert ax.lines[-1].get_color() == DARK.series[0]
    with pytest.raises(ParameterError, match="theme is 'blue'"):
        plot.mistakes(run, theme="blue")


def test_ticks_have_separators_percent_signs_and_whole_numbers():
    layer = Layer.of("a", [0, 30_000], [0.0, 0.25])
    ax = plot.draw(Picture("T", Axis("x"), Axis("y", percent=True), (layer,)))
    ax.figure.canvas.draw()
    assert "10,000" in [text.get_text() for text in ax.get_xticklabels()]
    assert "10%" in [text.get_text() for text in ax.get_yticklabels()]
    ax = plot.draw(Picture("T", Axis("x", log=True), Axis("y"), (Layer.of("a", [1, 10_000], [-3, 2]),)))
    ax.figure.canvas.draw()
    assert ax.get_xscale() == "log"
    assert "1,000" in [text.get_text() for text in ax.get_xticklabels()]
    assert {"−3", "0", "2"} <= {text.get_text() for text in ax.get_yticklabels()}
    ax = plot.draw(Picture("T", Axis("steps"), Axis("y"), (Layer.of("a", [1, 2, 3], [0.1, 0.2, 0.3]),)))
    assert all(float(tick).is_integer() for tick in ax.get_xticks())


def test_names_are_shown_as_they_are():
    odd = ["$x^2$", "_hidden", "a\nb", "x" * 100]
    state = onlinear.run(rules.Perceptron(), np.ones((2, 4)), [1, -1]).state
    from dataclasses import replace

    ax = plot.draw(replace(state, names=tuple(odd), arrays=np.arange(1.0, 5.0)))
    ax.figure.canvas.draw()
    names = [text.get_text().replace("\n", "") for text in ax.get_yticklabels()]
    assert names == ["x" * 47 + "…", "a\\nb", "_hidden", "$x^2$"]
    assert not any(text.get_parse_math() for text in ax.get_yticklabels())
    layers = [Layer.of(name, [0, 1], [0, 1]) for name in odd[:3]]
    ax = plot.draw(Picture("$T$", Axis("$x$"), Axis("$y$"), tuple(layers), ("$5 and $6",)))
    ax.figure.canvas.draw()
    (legend,) = ax.figure.legends
    assert [text.get_text().strip() for text in legend.get_texts()] == ["$x^2$", "_hidden", "a\\nb"]


def test_rows_are_read_from_the_top(given):
    for name in ("weights", "confusion", "bounds"):
        arguments, options = given[name]
        bottom, top = getattr(plot, name)(*arguments, **options).get_ylim()
        assert bottom > top


# --- The functions ----------------------------------------------------------------------------------


def test_a_square_picture_that_is_wide_has_no_empty_space_above():
    x = np.arange(10.0)
    points = Layer.of("points", x, 0.3 * x, "points", "class")
    ax = plot.draw(Picture("Wide", Axis("x"), Axis("y"), (points,), square=True))
    ax.figure.draw_without_rendering()
    above = ax.figure.get_figheight() - ax.get_window_extent().y1 / ax.figure.dpi
    assert above < 0.5  # inches, for the title


def test_slanted_names_leave_room_for_the_rows():
    names = tuple(f"quite a long name {i}" for i in range(8))
    rows, columns = (axis.ravel() for axis in np.indices((4, 8)))
    cells = Layer.of("share", columns, rows, "cells", low=np.ones(32), texts=["1"] * 32)
    ax = plot.draw(Picture("Cells", Axis("column", names=names), Axis("row", names=names[:4]), (cells,)))
    ax.figure.draw_without_rendering()
    assert ax.get_window_extent().height / ax.figure.dpi / 4 > 0.2


def test_every_outcome_has_plot(given):
    data = onlinear.datasets.xor()
    run = given["mistakes"][0][0]
    outcomes = [
        run,
        run.state,
        run.trace,
        run.trace.curve(),
        data,
        onlinear.separability(*data),
        given["compare"][0][0],
    ]
    outcomes += [given["confusion"][0][0], given["bounds"][0][0], given["margin"][1]["interval"]]
    for outcome in outcomes:
        ax = outcome.plot(theme="dark")
        assert ax.get_title(loc="left")
        assert len(repr(outcome).splitlines()) < 40
        assert "<table" in outcome._repr_html_()
        plt.close(ax.figure)
    assert run.plot(rate=True).get_ylabel() == "mistakes per round"
    with pytest.raises(ParameterError, match="no natural picture of int"):
        plot.draw(3)


def test_what_a_function_does_not_take_is_refused_by_its_type(given):
    run = given["mistakes"][0][0]
    for function, wrong, message in (
        (plot.bounds, run, r"onlinear\.plot\.bounds takes a Certificate, not a Convergence"),
        (plot.mistakes, given["compare"][0][0], "mistakes takes a Run or Trace or Curve, not a Comparison"),
        (plot.regret, run.trace, "regret takes a Run, not a Trace"),
        (plot.weights, 12, "weights takes a Run or State or Separable, not a int"),
        (plot.compare, run, "compare needs a Comparison, or a list with at least one Run"),
    ):
        for drawn in (function, function.picture, function.frame):
            with pytest.raises(ParameterError, match=message):
                drawn(wrong)


def test_functions_describe_themselves():
    for name in set(plot.__all__) - {"draw"}:
        function = getattr(plot, name)
        names = list(inspect.signature(function).parameters)
        assert {"ax", "theme"} <= set(names)
        assert names[0] in {"run", "runs", "result", "certificate"}
        described = pydoc.render_doc(function)
        assert "Further parameters" in described
        assert f"onlinear.plot.{name}" in described


def test_without_matplotlib_the_error_says_what_to_install_and_data_are_still_there():
    code = """
import sys
sys.modules["matplotlib"] = None
import onlinear
X, y = onlinear.datasets.xor()
run = onlinear.run(onlinear.rules.Perceptron(), X, y, trace=True)
print(onlinear.plot.mistakes.frame(run).num_rows)
try:
    run.plot()
except ImportError as error:
    print(error)
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert shown.splitlines() == ["15", 'onlinear.plot needs matplotlib: pip install "onlinear[plot]"']


def test_matplotlib_is_loaded_only_to_draw():
    code = "import sys, onlinear; onlinear.plot.weights, onlinear.plot.draw; print('matplotlib' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert shown.strip() == "False"


def test_notebooks_show_a_picture_below_the_table():
    X, y = onlinear.datasets.noisy(n=300, d=2, seed=0)
    run = onlinear.run(onlinear.rules.Perceptron(), X, y, trace="curve")
    data = onlinear.datasets.noisy(n=100, d=2)
    compared = onlinear.compare([onlinear.rules.Perceptron(), onlinear.rules.AROW()], X, y)
    for result in (run, compared, run.evaluate(X, y), onlinear.certify(run, X, y), data, run.trace, run.state):
        shown = result._repr_html_()
        assert shown.startswith("<table>")
        assert shown.index("</table><svg ") > 0
    assert data.plot().figure is not None
    large = onlinear.datasets.noisy(n=20_000, d=10)
    assert "<svg" not in large._repr_html_()
    assert run.trace.plot().get_ylabel() == "mistakes"
