"""What people use today, each as a function that makes one pass: predict, then learn.

All have their defaults. A tie counts as whatever the peer itself predicts.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import scikit_passes
import vowpalwabbit
from river.linear_model import ALMAClassifier, LogisticRegression, PAClassifier
from river.multiclass import OneVsRestClassifier
from river.preprocessing import StandardScaler
from sklearn.linear_model import Perceptron, SGDClassifier

# Vowpal Wabbit uses a number as the index of a feature, modulo 2^18 by default. That would do for all streams of today:
# with 22 bits the results are the same. More bits make sure that no two features ever share a weight.
BITS = "22"


class Pass(NamedTuple):
    """One pass of a learner."""

    mistakes: int
    seconds: float
    """The time that the library itself takes."""


def vowpal_wabbit(loss, examples):
    """Return how often its own progressive prediction was wrong: with these options its loss is 0 or 1.

    It learns while it reads its own text format, and the time is that of both.
    """
    task = ["--binary"] if examples.n_classes == 2 else ["--oaa", str(examples.n_classes)]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "examples.txt"
        data.write_text("".join(examples.lines))
        options = ["--data", str(data), "--loss_function", loss, "--bit_precision", BITS, "--quiet", *task]
        begin = time.perf_counter()
        workspace = vowpalwabbit.Workspace(arg_list=options)
        mistakes = workspace.get_sum_loss()
        workspace.finish()
        return Pass(int(mistakes), time.perf_counter() - begin)


def scikit_learn(make, examples):
    """Return the mistakes of one pass, and the time of `partial_fit`, which predicts nothing."""
    mistakes = scikit_passes.count_mistakes(make(), examples.X, examples.codes, examples.n_classes)
    model, classes = make().set_params(shuffle=False), list(range(examples.n_classes))
    begin = time.perf_counter()
    model.partial_fit(examples.X, examples.codes, classes=classes)
    return Pass(mistakes, time.perf_counter() - begin)


def river(make, examples, *, scale=False):
    model, labels = make(), examples.codes.tolist()
    if examples.n_classes == 2:
        labels = [label == 1 for label in labels]
    else:
        model = OneVsRestClassifier(model)
    if scale:
        model = StandardScaler() | model
    mistakes, begin = 0, time.perf_counter()
    for x, label in zip(examples.dicts, labels, strict=True):
        mistakes += model.predict_one(x) != label
        model.learn_one(x, label)
    return Pass(mistakes, time.perf_counter() - begin)


PEERS = {
    "VW hinge": partial(vowpal_wabbit, "hinge"),
    "VW logistic": partial(vowpal_wabbit, "logistic"),
    "scikit-learn Perceptron": partial(scikit_learn, Perceptron),
    "scikit-learn SGD hinge, averaged": partial(scikit_learn, partial(SGDClassifier, average=True)),
    "scikit-learn SGD log, averaged": partial(scikit_learn, partial(SGDClassifier, loss="log_loss", average=True)),
    # What scikit-learn recommends instead of its PassiveAggressiveClassifier, with the same default C = 1.
    "scikit-learn PA-I": partial(scikit_learn, partial(SGDClassifier, penalty=None, learning_rate="pa1", eta0=1.0)),
    "River LogisticRegression": partial(river, LogisticRegression),
    # With the scaler that its documentation puts in front of it.
    "River scaled LogisticRegression": partial(river, LogisticRegression, scale=True),
    "River PA": partial(river, PAClassifier),
    "River ALMA": partial(river, ALMAClassifier),
}
