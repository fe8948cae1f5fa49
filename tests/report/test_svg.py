"""Pictures as SVG: what is drawn is where the data are, nothing is hidden, and the text is legible and harmless."""

import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinear.pictures import Axis, Layer, Picture
from onlinear.pictures.markup import cut_text, text_width, wrap_text
from onlinear.pictures.palette import DARK, LIGHT, layer_numbers
from onlinear.pictures.scale import Scale, limits, number
from onlinear.pictures.svg import dark_style, svg
from onlinear.pictures.thin import stretches, thin_line, thin_points

NS = "{http://www.w3.org/2000/svg}"
heights = st.floats(-1e6, 1e6)


def drawn(picture, **options):
    return ET.fromstring(svg(picture, **options))  # noqa: S314  # it is made here


def points_of(path):
    """Return the points of a path of M and L commands."""
    return np.array([[float(part) for part in pair.split()] for pair in re.findall(r"[ML]([-\d.]+ [-\d.]+)", path)])


def layer_path(root, i=0):
    group = next(one for one in root.iter(NS + "g") if one.get("data-layer") == str(i))
    return next(one for one in group.iter(NS + "path")).get("d")


def texts(root):
    return ["".join(one.itertext()) for one in root.iter(NS + "text")]


def line(x, y, across=Axis("x"), up=Axis("y")):  # noqa: B008  # an axis is a tuple
    return Picture("A line", across, up, (Layer.of("line", x, y),))


# --- Thinning -------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(0, 50), heights), max_size=300), st.booleans())
def test_each_column_of_pixels_keeps_its_first_lowest_highest_and_last_point(points, ordered):
    points = sorted(points) if ordered else points
    x, y = np.array(points).reshape(-1, 2).T
    kept = thin_line(x, y)
    assert (np.diff(kept) > 0).all()
    columns = np.floor(x)
    stays = np.split(np.arange(x.size), np.flatnonzero(np.diff(columns)) + 1) if x.size else []
    for stay in stays:
        here = np.intersect1d(stay, kept)
        assert 1 <= here.size <= 4
        assert (here[0], here[-1]) == (stay[0], stay[-1])
        assert (y[here].min(), y[here].max()) == (y[stay].min(), y[stay].max())


def test_no_burst_in_a_million_rounds_is_hidden():
    n, width = 1_000_000, 700
    rng = np.random.default_rng(0)
    bursts = rng.choice(n, size=50, replace=False)
    rate = np.full(n, 0.01)
    rate[bursts] = 0.5 + rng.random(50) / 2  # one round long
    x = np.linspace(0.0, width, n)
    kept = thin_line(x, rate)
    assert kept.size <= 4 * (width + 1)
    shown = dict.fromkeys(np.floor(x[bursts]).tolist(), 0.0)
    for i in kept.tolist():
        if np.floor(x[i]) in shown:
            shown[np.floor(x[i])] = max(shown[np.floor(x[i])], rate[i])
    for column, height in shown.items():
        assert height == rate[bursts[np.floor(x[bursts]) == column]].max()


def test_a_drawn_line_has_its_peaks_and_a_bounded_size():
    rng = np.random.default_rng(0)
    rate = rng.random(200_000) / 10
    rate[[0, 77_777, 199_999]] = 1.0
    picture = line(np.arange(rate.size), rate, up=Axis("rate", low=0.0, high=1.0))
    text = svg(picture)
    assert len(text) < 60_000
    assert (points_of(layer_path(ET.fromstring(text)))[:, 1] == 0).sum() == 3  # noqa: S314  # the top of the plot


def test_missing_numbers_are_gaps():
    x, y = np.arange(6.0), np.array([1.0, 2.0, np.nan, 4.0, np.inf, 5.0])
    assert [(part.start, part.stop) for part in stretches(x, y)] == [(0, 2), (3, 4), (5, 6)]
    assert layer_path(drawn(line(x, y))).count("M") == 3


def test_points_at_the_same_pixel_are_drawn_once():
    assert thin_points(np.array([1.0, 1.2, 5.0, np.nan]), np.array([2.0, 2.1, 2.0, 1.0])).tolist() == [0, 2]


# --- Axes -----------------------------------------------------------------------------------------


def places(root, name):
    """Return the values of the numbers on an axis, and where they stand."""
    group = next(one for one in root.iter(NS + "g") if (one.get("class") or "").endswith(name))
    side = name[0]
    values = [float("".join(one.itertext()).replace(",", "").replace("−", "-")) for one in group]
    return np.array(values), np.array([float(one.get(side)) for one in group])


@pytest.mark.parametrize("log", [False, True])
def test_a_line_stands_where_the_numbers_on_the_axes_say(log):
    x, y = np.array([10.0, 40.0, 90.0, 1000.0]), np.array([2.0, 30.0, 700.0, 650.0])
    root = drawn(line(x, y, Axis("x", log=log), Axis("y", log=log)), standalone=False)
    plot = next(one for one in root.iter(NS + "svg") if one.get("class") == "plot")
    path = points_of(layer_path(root))
    assert len(path) == 4
    for k, (name, data) in enumerate((("x-ticks", x), ("y-ticks", y))):
        values, where = places(root, name)
        measure = np.log if log else np.asarray
        shift = float(plot.get("xy"[k])) + (4 if k else 0)  # the middle of a line of text is above its foot
        inside = slice(0, -1) if k == 0 else slice(None)  # the last number below the plot may be moved to fit in
        slope, offset = np.polyfit(measure(values)[inside], where[inside] - shift, 1)
        assert path[:, k] == pytest.approx(slope * measure(data) + offset, abs=0.3)


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.booleans(), st.booleans())
def test_ticks_are_round_inside_and_told_apart(low, span, log, percent):
    low = abs(low) + 1e-6 if log else low
    high = low + span
    if not high > low * (1 + 1e-9) > -np.inf or high - low < 1e-6 * abs(low):
        return
    ticks = Scale(Axis("", log=log, percent=percent), low, high, 0.0, 600.0).ticks(80)
    labels = [tick.label for tick in ticks]
    assert len(set(labels)) == len(labels) <= 16
    assert all(low - 1e-6 * span <= tick.value <= high + 1e-6 * span for tick in ticks)
    assert [tick.value for tick in ticks] == sorted(tick.value for tick in ticks)
    assert ticks or log


def test_numbers_have_separators_percent_and_powers():
    assert [number(1234567.0, 0), number(-0.5, 2), number(1e15, 0), number(2e-7, 0)] == [
        "1,234,567",
        "−0.50",
        "10¹⁵",
        "2·10⁻⁷",
    ]
    shares = Scale(Axis("", percent=True), 0.0, 0.02, 0.0, 300.0).ticks(80)
    assert [tick.label for tick in shares] == ["0%", "1%", "2%"]
    assert [tick.label for tick in Scale(Axis("", log=True), 1.0, 1e4, 0.0, 300.0).ticks(80)] == ["1", "100", "10,000"]


def test_limits_of_the_axis_come_first_and_nothing_is_no_trouble():
    assert limits(Axis("", low=-1.0, high=7.0), [np.array([3.0])], pad=0.05) == (-1.0, 7.0)
    assert limits(Axis("", log=True), [np.array([0.0, 1.0, 100.0])], pad=0.0) == (1.0, 100.0)
    for axis in (Axis(""), Axis("", log=True)):
        for values in ([], [np.array([np.nan])], [np.array([5.0])]):
            low, high = limits(axis, values, pad=0.05, zero=True)
            assert low < high


def test_names_stand_on_the_axes_of_a_matrix():
    x, y = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    cells = Layer.of("", x, y, "cells", low=[1.0, 0.0, 0.25, 0.75], texts=["4", "", "1", "3"])
    root = drawn(Picture("Confusions", Axis("predicted", names=("a", "b")), Axis("label", names=("a", "b")), (cells,)))
    assert {"a", "b", "4", "1", "3", "predicted", "label"} <= set(texts(root))
    shades = [float(one.get("fill-opacity")) for one in root.iter(NS + "rect") if one.get("fill-opacity")]
    assert shades == [0.5, 0.03, 0.15, 0.38]
    corners = [(float(one.get("x")), float(one.get("y"))) for one in root.iter(NS + "rect") if one.get("fill-opacity")]
    assert corners[0] < corners[1]
    assert corners[0][1] < corners[2][1], "the first row is at the top"


def bars(names, lengths=None):
    lengths = np.arange(1.0, len(names) + 1) if lengths is None else lengths
    layer = Layer.of("", lengths, np.arange(len(names)), "bars", texts=names)
    return Picture("Bars", Axis("length"), Axis(""), (layer,))


@pytest.mark.parametrize("width", [720, 360])
def test_long_names_of_bars_stand_above_them_and_are_cut_at_the_edge(width):
    long = "a very long name of a feature " * 9
    root = drawn(bars(["short", long]), width=width)
    found = [text for text in texts(root) if text.startswith("a very long")]
    assert found[0].endswith("…")
    assert text_width(found[0]) <= width
    short = drawn(bars(["short", "name"]), width=width)
    assert int(root.get("height")) > int(short.get("height"))


def test_bars_begin_at_zero_and_are_as_long_as_they_say():
    root = drawn(bars(["a", "b", "c"], np.array([2.0, -1.0, 4.0])))
    ends = [tuple(map(float, found)) for found in re.findall(r"M([-\d.]+) [-\d.]+H([-\d.]+)v", layer_path(root))]
    lengths = np.array([end - begin for begin, end in ends])
    assert lengths / lengths[0] == pytest.approx([1.0, -0.5, 2.0], abs=0.01)


def test_a_square_picture_has_the_same_unit_on_both_axes():
    layer = Layer.of("points", [0.0, 3.0], [0.0, 1.0], "points", "class")
    root = drawn(Picture("Square", Axis("a"), Axis("b"), (layer,), square=True))
    (x0, y0), (x1, y1) = (tuple(map(float, pair)) for pair in re.findall(r"M([\d.]+) ([\d.]+)m", layer_path(root)))
    assert (x1 - x0) / 3.0 == pytest.approx(y0 - y1, rel=0.01)


# --- Layers ---------------------------------------------------------------------------------------


def test_every_kind_of_layer_draws_something():
    x, y = [1.0, 2.0, 3.0], [2.0, 1.0, 3.0]
    layers = (
        Layer.of("line", x, y),
        Layer.of("points", x, y, "points", "class", texts=["p", "q", "r"]),
        Layer.of("path", x, y, "path", texts=["", "", "end"]),
        Layer.of("band", x, y, "band", low=[1.0, 0.5, 2.0], high=[3.0, 2.0, 4.0]),
        Layer.level("level", 2.5),
    )
    root = drawn(Picture("All", Axis("x"), Axis("y"), layers))
    for i in range(len(layers)):
        assert layer_path(root, i).startswith("M")
    assert {"p", "q", "r", "end", "line", "points", "path", "band", "level"} <= set(texts(root))


def test_layers_differ_by_more_than_colour():
    layers = tuple(Layer.of(f"rule {i}", [0, 1], [0, i]) for i in range(5))
    root = drawn(Picture("Rules", Axis("x"), Axis("y"), layers))
    groups = [one for one in root.iter(NS + "g") if one.get("data-layer")]
    dashes = [next(one.iter(NS + "path")).get("stroke-dasharray") for one in groups]
    assert len(set(dashes)) == len(dashes)


def test_a_layer_without_a_name_looks_like_the_one_it_belongs_to():
    band = Layer.of("", [0, 1], [0, 1], "band", low=[0, 0], high=[1, 1])
    layers = (band, Layer.of("first", [0], [0]), band, Layer.of("second", [0], [0]), Layer.level("", 1.0))
    assert layer_numbers(layers) == [0, 0, 1, 1, 0]
    assert layer_numbers((Layer.of("a", [0], [0]), band)) == [0, 0]


def test_entries_of_the_legend_do_not_overlap():
    names = [f"AROW(r={10.0**-i}, full=64), normalized" for i in range(7)]
    root = drawn(Picture("Many", Axis("x"), Axis("y"), tuple(Layer.of(name, [0, 1], [0, 1]) for name in names)))
    legend = next(one for one in root.iter(NS + "g") if one.get("class") == "legend")
    boxes = [
        (float(one.get("y")), float(one.get("x")) - 28, float(one.get("x")) + text_width("".join(one.itertext())))
        for one in legend.iter(NS + "text")
    ]
    assert len(boxes) == len(names)
    for (row, _, right), (next_row, left, end) in itertools.pairwise(boxes):
        assert right < left if row == next_row else row < next_row
        assert end <= 720


# --- Text -----------------------------------------------------------------------------------------


def test_text_is_shown_and_not_run():
    hostile = "<script>alert(1)</script>\x00\ud800 & \"'"
    layers = (Layer.of(hostile, [0, 1], [0, 1]), Layer.level(hostile + "2", 1.0))
    text = svg(Picture(hostile, Axis(hostile), Axis(hostile), layers, (hostile,)))
    assert "<script" not in text
    assert "<script>alert(1)</script>" in "".join(texts(ET.fromstring(text)))  # noqa: S314


@pytest.mark.parametrize("standalone", [True, False])
def test_nothing_in_it_needs_more_than_a_strict_policy_allows(standalone):
    text = svg(line([0, 1, 2], [1, 5, 2]), standalone=standalone)
    assert not re.search(r"\sstyle=|\son\w+=|<script|href|url\(|@import", text)
    assert ("<style>" in text) == standalone


def test_it_is_the_same_each_time_and_has_its_own_ids():
    one, other = line([0, 1], [0, 1]), line([0, 1], [0, 2])
    assert svg(one) == svg(one)
    ids = [re.findall(r' id="([^"]+)"', svg(picture)) for picture in (one, other)]
    assert not set(ids[0]) & set(ids[1])
    assert re.findall(r' id="([^"]+)"', svg(one, name="mine")) == ["mine-title", "mine-desc"]


def test_it_says_what_it_shows():
    root = drawn(Picture("Mistakes", Axis("rounds"), Axis("mistakes"), (Layer.of("AROW", [0, 1000], [0, 57]),)))
    ids = {one.get("id"): one.text for one in root.iter() if one.get("id")}
    assert root.get("role") == "img"
    assert ids[root.get("aria-labelledby")] == "Mistakes"
    assert ids[root.get("aria-describedby")] == "mistakes against rounds. AROW: 57 at 1,000."


@given(st.text(max_size=60), st.floats(20, 300))
def test_cut_and_wrapped_texts_fit(text, width):
    assert text_width(cut_text(text, width)) <= max(width, text_width("…"))
    assert all(text_width(one) <= max(width, text_width("…")) for one in wrap_text(text, width))


# --- Colours --------------------------------------------------------------------------------------


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_colours_stand_out_from_the_paper(theme):
    assert min(contrast(colour, theme.paper) for colour in (*theme.series, theme.bound, theme.baseline)) >= 3.0
    assert min(contrast(colour, theme.paper) for colour in (theme.ink, theme.muted)) >= 4.5


def test_dark_pages_change_every_colour():
    style = dark_style()
    for colour in (DARK.paper, DARK.ink, DARK.muted, DARK.grid, DARK.bound, DARK.baseline, *DARK.series):
        assert colour in style
    used = set(re.findall(r'class="(\w+)', svg(line([0, 1], [0, 1]))))
    assert used - {"onlinear", "plot", "legend"} <= set(re.findall(r"\.onlinear \.(\w+)", style))
