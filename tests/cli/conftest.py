"""Data in an empty folder, which is the current one."""

import sys

import numpy as np
import pytest

import onlinear


def libsvm(X, y):
    rows = ((f"{index + 1}:{value!r}" for index, value in enumerate(row) if value) for row in X.tolist())
    return "".join(f"{label} {' '.join(row)}\n" for label, row in zip(y.tolist(), rows, strict=True))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def examples(folder):
    """real.svm, in two halves also; binary.svm; advice.svm; mail.csv."""
    X, y = onlinear.datasets.separable(margin=0.01, n=300, d=8, seed=0)
    text = libsvm(np.round(X, 4), y)
    (folder / "real.svm").write_text(text)
    lines = text.splitlines(keepends=True)
    (folder / "first.svm").write_text("".join(lines[:100]))
    (folder / "second.svm").write_text("".join(lines[100:]))
    (folder / "binary.svm").write_text(libsvm(*onlinear.datasets.disjunction(k=3, N=20, n=300, seed=0)))
    (folder / "advice.svm").write_text(libsvm(*onlinear.datasets.experts(N=5, n=100, best=0.1, seed=0)))
    (folder / "mail.csv").write_text(
        "spam,length,colour,subject\nyes,1.5,red,buy now\nno,0.5,blue,hello there\n"
        "yes,2.5,red,buy this now\nno,0.25,green,hello you\nyes,3,red,now\n"
    )
    (folder / "new.csv").write_text("length,colour,subject\n2,red,buy\n0.1,pink,hello\n")
    return folder
