"""The report in a browser: nothing is fetched, nothing fails, and it can be read, zoomed, printed and tabbed through.

A locator waits without eval, which the page's own policy forbids.
"""

import json
import re

import pytest

from report_data import AXE

NAMES = ["perceptron", "three classes", "hostile"]
WIDTHS = [360, 768, 1280]


class Visit:
    """A page that was opened, with what it has asked for and complained about."""

    def __init__(self, browser, path, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.requests, self.complaints = [], []
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.url = path.as_uri()
        self.page.goto(self.url)

    def close(self):
        assert self.requests == [self.url]
        assert self.complaints == []
        self.context.close()


@pytest.fixture(scope="module")
def pages(reported, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, (_, page) in reported.items():
        page.save(folder / f"{name}.html")
    return folder


@pytest.fixture
def visit(browser, pages):
    visits = []

    def opened(name="perceptron", **options):
        visits.append(Visit(browser, pages / f"{name}.html", **options))
        return visits[-1].page

    yield opened
    for each in visits:
        each.close()


def chart(page):
    """Return the first chart that can be zoomed, in the middle of the window."""
    one = page.locator("figure.chart:has(.live)").first
    one.locator(".drawing").evaluate("one => one.scrollIntoView({block: 'center'})")
    return one


def shape(one):
    """Return the path of the last line of a chart, in its wide drawing."""
    return one.locator(".wide [data-layer] path").last.get_attribute("d")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_without_requests_or_complaints_in_both_themes(visit, name, scheme):
    page = visit(name, color_scheme=scheme)
    assert page.locator("h1").count() == 1
    paper = page.locator("body").evaluate("one => getComputedStyle(one).backgroundColor")
    ink = page.locator("body").evaluate("one => getComputedStyle(one).color")
    dark = [sum(map(int, re.findall(r"\d+", colour)[:3])) < 300 for colour in (paper, ink)]
    assert dark == ([True, False] if scheme == "dark" else [False, True])
    line = page.locator(".wide g.s0").first.evaluate("one => getComputedStyle(one).color")
    assert line == {"light": "rgb(0, 114, 178)", "dark": "rgb(86, 180, 233)"}[scheme]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_its_window(visit, name, width):
    page = visit(name, viewport={"width": width, "height": 800})
    for each in page.locator("details summary").all():
        each.click()
    assert page.locator("html").evaluate("one => one.scrollWidth") <= width
    shown = [page.locator(f"figure .{kind}").first.is_visible() for kind in ("wide", "narrow")]
    assert shown == ([False, True] if width == 360 else [True, False])


@pytest.mark.parametrize("name", NAMES)
def test_without_scripts_the_pictures_and_tables_are_there(visit, name):
    page = visit(name, java_script_enabled=False)
    drawn = page.locator("figure.chart")
    assert drawn.count() >= 4
    for i in range(drawn.count()):
        assert drawn.nth(i).locator("svg.onlinear").first.is_visible()
        assert not drawn.nth(i).locator("table").is_visible()
        drawn.nth(i).locator("summary").click()
        assert drawn.nth(i).locator("table").is_visible()
    assert page.locator(".readout, .live").count() == 0


def test_the_pointer_reads_the_numbers(visit, reported):
    page = visit()
    one = chart(page)
    box = one.locator(".wide .plot").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 0.5, box["y"] + 20)
    run = reported["perceptron"][0]
    told = one.locator(".readout").inner_text()
    assert re.search(rf"rounds {run.rounds:,}\b", told)
    assert re.search(rf"Perceptron {run.mistakes:,}\b", told)
    assert one.locator('.wide circle[visibility="visible"]').count() >= 1
    page.mouse.move(2, 2)
    assert "drag to zoom" in one.locator(".readout").inner_text()


def test_dragging_zooms_and_a_double_click_shows_all(visit):
    page = visit()
    one = chart(page)
    before, ticks = shape(one), one.locator(".wide .x-ticks").text_content()
    box = one.locator(".wide .plot").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 50)
    page.mouse.up()
    assert shape(one) != before
    marks = [float(text.replace(",", "")) for text in one.locator(".wide .x-ticks text").all_text_contents()]
    assert marks
    assert all(195 <= mark <= 305 for mark in marks)
    one.get_by_role("button", name="Show all").wait_for()
    one.locator(".drawing").dblclick(position={"x": 200, "y": 120})
    assert (shape(one), one.locator(".wide .x-ticks").text_content()) == (before, ticks)
    assert not one.get_by_role("button", name="Show all").is_visible()


def test_the_keyboard_does_all_of_it(visit, reported):
    page = visit()
    one = chart(page)
    before = shape(one)
    page.keyboard.press("Tab")
    assert page.locator(".skip").evaluate("one => one === document.activeElement")
    one.locator(".live").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert re.search(r"rounds 1\b", one.locator(".readout").inner_text())
    page.keyboard.press("End")
    assert f"rounds {reported['perceptron'][0].rounds:,}" in one.locator(".readout").inner_text()
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert shape(one) != before
    page.keyboard.press("Escape")
    assert shape(one) == before
    page.keyboard.press("+")
    one.get_by_role("button", name="Show all").press("Enter")
    assert shape(one) == before


def test_the_wheel_zooms_only_a_chart_that_was_chosen(visit):
    page = visit()
    one = chart(page)
    before = shape(one)
    box = one.locator(".wide .plot").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 50)
    page.mouse.wheel(0, -200)
    page.locator("body").evaluate("() => new Promise(requestAnimationFrame)")
    assert shape(one) == before
    one.locator(".live").focus()
    one.locator(".live").scroll_into_view_if_needed()
    box = one.locator(".wide .plot").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 50)
    page.mouse.wheel(0, -200)
    one.get_by_role("button", name="Show all").wait_for()
    assert shape(one) != before


def test_a_finger_reads_and_zooms_on_a_phone(visit):
    page = visit("three classes", viewport={"width": 360, "height": 800}, has_touch=True, is_mobile=True)
    one = chart(page)
    one.locator(".drawing").tap(position={"x": 200, "y": 150})
    assert "rounds" in one.locator(".readout").inner_text()
    box = one.locator(".narrow .plot").bounding_box()
    before = one.locator(".narrow [data-layer] path").last.get_attribute("d")
    session = page.context.new_cdp_session(page)
    y = box["y"] + box["height"] / 2
    for kind, share in (("Start", 0.3), ("Move", 0.4), ("Move", 0.6), ("End", None)):
        points = [] if share is None else [{"x": box["x"] + box["width"] * share, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    one.get_by_role("button", name="Show all").wait_for()
    assert one.locator(".narrow [data-layer] path").last.get_attribute("d") != before


def test_paper_shows_the_charts_and_no_controls(visit):
    page = visit("three classes", color_scheme="dark")
    page.emulate_media(media="print")
    assert page.locator("figure svg.onlinear").first.is_visible()
    for hidden in ("nav", ".readout"):
        assert not page.locator(hidden).first.is_visible()
    for table in page.locator("details table").all():  # closed on the screen
        assert table.bounding_box()["height"] > 20
    assert page.locator(".wide g.s0").first.evaluate("one => getComputedStyle(one).color") == "rgb(0, 114, 178)"
    assert page.pdf().startswith(b"%PDF")


def test_names_from_users_are_text(visit):
    page = visit("hostile")
    assert page.locator("h1").inner_text() == "<script>alert(3)</script>"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1 + page.locator('script[type="application/json"]').count()
    assert page.get_by_text("<script>alert(1)</script>").count() > 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_axe_finds_no_serious_violation(visit, name, width, scheme):
    page = visit(name, viewport={"width": width, "height": 800}, color_scheme=scheme)
    for each in page.locator("details summary").all():
        each.click()
    session = page.context.new_cdp_session(page)
    # The protocol evaluates without eval, so the page's policy stays in force.
    session.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
    asked = {"expression": "axe.run().then(JSON.stringify)", "awaitPromise": True}
    found = json.loads(session.send("Runtime.evaluate", asked)["result"]["value"])
    assert len(found["passes"]) > 20
    wrong = [
        f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes']]}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
    ]
    assert wrong == []
