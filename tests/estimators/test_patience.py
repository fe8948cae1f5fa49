"""When a loop gives up: progress as it was on real data, and proofs."""

import numpy as np
import pytest
import scipy.sparse

import onlinear
from onlinear.estimators.patience import falls_fast, has_learned, has_stalled, is_separable, stalls
from onlinear.runs.convergence import PassCounts

# Updates of the perceptron in its first passes, and the sums up to 8, 16, 32 and 64 passes.
SEPARABLE = {
    "text": [1790, 1203, 912, 760, 624, 520, 450, 390, *[220] * 8, *[60] * 16],
    "ten digits": [1883, 1353, 1219, 1128, 1080, 1040, 1010, 980, *[870] * 8, *[690] * 16, *[520] * 32],
    "a hyperplane": [1604, 887, 659, 592, 510, 470, 440, 410, *[320] * 8, *[230] * 16, *[150] * 32],
}
INSEPARABLE = {
    "noise": [42043, 41840],
    "adult": [7109, 7055],
    "short texts": [4694, 3396, 3120, 2950, 2848, 2780, 2700, 2620, *[2540] * 8],
    "pen strokes": [1651, 1040, 910, 829, 790, 760, 740, 720, *[680] * 8, *[650] * 16],
}


def counts(updates):
    return [PassCounts(n, n, float(n)) for n in updates]


@pytest.mark.parametrize("name", SEPARABLE)
def test_progress(name):
    passes = counts(SEPARABLE[name])
    assert not has_stalled(passes)
    assert falls_fast(passes[:6]) == (name != "ten digits")


@pytest.mark.parametrize("name", INSEPARABLE)
def test_no_progress(name):
    passes = counts(INSEPARABLE[name])
    assert stalls(passes)
    assert not has_stalled(passes[:-1])
    assert has_stalled([*passes, PassCounts(0, 0, 0.0)])
    assert not falls_fast(passes[:6])


def test_few_mistakes_show_no_trend():
    assert not has_stalled(counts([3] * 32))
    assert has_stalled(counts([3] * 128))


def test_steps_count_not_their_number():
    """Mistakes of hardly any weight do not hide progress, and progress on them is none."""
    heavy = [PassCounts(100, 100, 1000.0 / 2**n) for n in range(8)]
    light = [PassCounts(100, 100 // 2**n, 1000.0) for n in range(8)]
    assert not has_stalled(heavy)
    assert has_stalled(light)


def test_what_has_been_learned():
    every = [PassCounts(m, 1000, 1000.0) for m in (90, 20, 3, 1, 0, 0, 0, 0)]
    assert [has_learned(every[:n]) for n in (1, 2, 3, 4, 8)] == [False, False, False, False, True]
    assert has_learned([PassCounts(300, 1000, 1000.0), PassCounts(290, 1000, 1000.0)])
    assert not has_learned([PassCounts(30, 1000, 1000.0), PassCounts(29, 1000, 1000.0)])


@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_sample_proves_it(layout, classes):
    X, _ = onlinear.datasets.noisy(n=40_000, d=5, seed=0)
    y = np.random.default_rng(0).integers(0, classes, len(X))
    answer = is_separable(layout(X), y, np.arange(classes), fit_intercept=True)
    assert answer.separable is False
    assert answer.words.startswith("no vector separates these examples: those in rows ")
    rows = [int(row) for row in answer.words.split("rows ")[1].split(" cancel")[0].split(", ") if row != "…"]
    assert max(rows) > 3000  # rows of the whole, not of the sample


def test_what_is_not_known():
    X, y = onlinear.datasets.separable(margin=0.1, n=300, d=5, seed=0)
    assert is_separable(X, y, np.array([-1, 1]), fit_intercept=True).separable
    wide = np.hstack([X, np.zeros((300, 300))])
    assert is_separable(wide, y, np.array([-1, 1]), fit_intercept=True).separable is None
    # A sample is separable, and the whole is too large to decide.
    large = scipy.sparse.csr_matrix(np.tile(np.hstack([X, np.zeros((300, 150))]), (100, 1)))
    assert is_separable(large, np.tile(y, 100), np.array([-1, 1]), fit_intercept=True).separable is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_best_of_all_batches():
    X, y = onlinear.datasets.noisy(n=300, d=4, flip=0.2, seed=1)
    model = onlinear.BatchPerceptronClassifier(max_iter=30).fit(X, y)
    scores = [
        (onlinear.batch_perceptron(X, y, max_passes=k, fit_intercept=True).predict(X) == y).mean() for k in range(1, 30)
    ]
    assert model.score(X, y) == max(scores)
    assert model.n_iter_ == 1 + int(np.argmax(scores))
    assert f"these are the best weights, after {model.n_iter_} pass" in model.run_.reason
    model.certificate(X, y).verify(X, y)
    # Proven inseparable, it does not make a thousand passes.
    default = onlinear.BatchPerceptronClassifier(verbose=0).fit(X, y)
    assert default.run_.reason.startswith("gave up after 64 passes")


def test_two_classes_prove_it_for_all():
    """The check of all 26 classes together would be too large; two of them contradict each other."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 26, 4000)
    X = np.hstack([np.eye(26)[y], rng.standard_normal((4000, 2))])
    similar = np.isin(y, [7, 19])
    X[similar, :26] = 1.0
    answer = is_separable(X, y, np.arange(26), fit_intercept=True)
    assert answer.separable is False
    rows = [int(row) for row in answer.words.split("rows ")[1].split(" cancel")[0].split(", ") if row != "…"]
    assert set(y[rows]) == {7, 19}
    # With a single class left, there is no such pair.
    assert is_separable(X[y == 3], y[y == 3], np.arange(26), fit_intercept=True).separable is None
