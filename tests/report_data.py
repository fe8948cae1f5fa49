"""Examples to report on: three classes, and a table whose names and labels are markup."""

from pathlib import Path

import numpy as np

AXE = Path(__file__).parents[1] / "build/axe/package/axe.min.js"
"""Where `make` puts axe-core."""

HOSTILE = ["<script>alert(1)</script>", "a|b `c` *d* [e](f)", "'\"><img src=x onerror=alert(2)>", "</style>", "ü€漢字"]
"""Names of features, which are shown as they are."""
LABELS = ["<b>bold</b>", "no & never"]


def three_classes(n=150):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 4)).round(3)
    X[np.arange(n), y] += 1.5
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def hostile_table(n=120):
    """Return a CSV text whose names and labels are markup."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, len(HOSTILE))).round(3)
    labels = np.array(LABELS)[(X[:, 0] + X[:, 1] > 0).astype(int)]
    labels[:5] = LABELS[1]
    head = ",".join('"' + name.replace('"', '""') + '"' for name in [*HOSTILE, "label"])
    rows = (",".join([*map(str, row), label]) for row, label in zip(X.tolist(), labels, strict=True))
    return "\n".join([head, *rows]) + "\n"
