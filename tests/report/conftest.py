"""Results to report on: a small run, several rules on three classes, hostile names; and a browser."""

import os
import shutil

import pytest

import onlinear
from onlinear.rules import AROW, Majority, Perceptron
from report_data import AXE, hostile_table, three_classes


@pytest.fixture(scope="session")
def hostile_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("<b>hostile & folder") / "<i>data</i>.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text(hostile_table(), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def reported(hostile_file):
    """Reports by name: each with its result."""
    X, y = onlinear.datasets.separable(margin=0.05, n=400, d=6, seed=1)
    perceptron = onlinear.train(Perceptron(), X, y, trace="curve")
    A, b = three_classes()
    several = onlinear.compare([Majority(), AROW(), Perceptron()], A, b, trace="curve")
    stream = onlinear.open_stream(hostile_file)
    hostile = onlinear.train(Majority(), stream, trace="curve")
    return {
        "perceptron": (perceptron, perceptron.report(X, y, data="points")),
        "three classes": (several, several.report(A, b, data="flowers")),
        "hostile": (hostile, hostile.report(stream, data=str(hostile_file), title="<script>alert(3)</script>")),
    }


@pytest.fixture(scope="session")
def browser():
    """Chromium; where there is none, these tests are skipped, but not in continuous integration."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        found = None
    if found is None or not AXE.exists():
        why = "the tests of the report in a browser need Chromium, Playwright and axe-core"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(why)
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=found, args=["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", *quiet]
        )
        yield launched
        launched.close()
