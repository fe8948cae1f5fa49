"""Rules as they stand in the papers, over lists of Python floats: slow, obvious, and without anything of the library.

Each class has the weights `w`; `step(x, y, a)` learns from an example of weight a, and returns how near it came to a
point where the rule jumps: there, rounding may part two computations.
"""

import math
from statistics import NormalDist


def dot(u, v):
    return math.fsum(a * b for a, b in zip(u, v, strict=True))


class Base:
    def __init__(self, n):
        self.w, self.classes = [0.0] * n, 1

    def score(self, x):
        return dot(self.w, x)

    def sure(self, r, x):
        """Whether the score of class r is free of rounding errors: they tell equal scores apart."""
        return True

    @property
    def shown(self):
        return self.w

    def move(self, a, x):
        self.w = [w + a * v for w, v in zip(self.w, x, strict=True)]


class Averaged(Base):
    """Freund & Schapire 1999: predict with the mean of the weights after each round. A margin b is not in the paper."""

    def __init__(self, n, b=0.0, progressive=True):
        super().__init__(n)
        self.b, self.progressive, self.past = b, progressive, []

    @property
    def shown(self):
        if not self.past:
            return self.w
        return [math.fsum(column) / len(self.past) for column in zip(*self.past, strict=True)]

    def score(self, x):
        return dot(self.shown if self.progressive else self.w, x)

    def step(self, x, y, a):
        edge = abs(y * dot(self.w, x) - self.b) or 1.0
        if y * dot(self.w, x) <= self.b:
            self.move(a * y, x)
        self.past.append(list(self.w))
        return edge


class PassiveAggressive(Base):
    """Crammer et al. 2006, Figure 1."""

    def __init__(self, n, C=1.0, variant="PA-I"):
        super().__init__(n)
        self.C, self.variant = C, variant

    def step(self, x, y, a):
        loss, square = max(0.0, 1 - y * self.score(x)), dot(x, x)
        if loss == 0 or square == 0 or a == 0:
            return 1.0
        sizes = {
            "PA": loss / square,
            "PA-I": min(self.C * a, loss / square),
            "PA-II": loss / (square + 1 / (2 * self.C * a)),
        }
        self.move(sizes[self.variant] * y, x)
        return 1.0


class Gradient(Base):
    """Whatever follows the gradient ℓ′·x of a loss."""

    def __init__(self, n, loss="hinge"):
        super().__init__(n)
        self.loss, self.t = loss, 0

    def slope(self, s, y):
        if self.loss == "logistic":
            return -y / (1 + math.exp(y * s))
        return -y if y * s < 1 else 0.0

    def step(self, x, y, a):
        self.t += 1
        s = self.score(x)
        self.descend(x, y, s, self.slope(s, y) * a, a)
        return abs(1 - y * s) if self.loss == "hinge" else 1.0


class OnlineGradient(Gradient):
    """Zinkevich 2003, without projection."""

    def __init__(self, n, eta0=1.0, power=0.5, loss="hinge"):
        super().__init__(n, loss)
        self.eta0, self.power = eta0, power

    def descend(self, x, y, s, g, a):
        self.move(-self.eta0 * self.t**-self.power * g, x)


class AdaGrad(Gradient):
    """Duchi, Hazan & Singer 2011, Figure 1: diagonal, δ = 0 with the pseudo-inverse, no domain."""

    def __init__(self, n, eta=0.5, loss="hinge"):
        super().__init__(n, loss)
        self.eta, self.G = eta, [0.0] * n

    def descend(self, x, y, s, g, a):
        for j, v in enumerate(x):
            self.G[j] += (g * v) ** 2
            if self.G[j] > 0:
                self.w[j] -= self.eta * g * v / math.sqrt(self.G[j])


class NormalizedAdaGrad(Gradient):
    """Ross, Mineiro & Langford 2013, Algorithm 2 (NAG), with invariant steps; predicted before scales grow."""

    def __init__(self, n, eta=0.5, loss="logistic"):
        super().__init__(n, loss)
        self.eta, self.s, self.G, self.T, self.N = eta, [0.0] * n, [0.0] * n, 0.0, 0.0

    def descend(self, x, y, s, g, a):
        slope = self.slope(s, y)
        if slope == 0 or a == 0:
            return
        for j, v in enumerate(x):
            if abs(v) > self.s[j]:
                if self.s[j] > 0:
                    self.w[j] *= self.s[j] / abs(v)
                self.s[j] = abs(v)
            self.G[j] += a * (slope * v) ** 2
        active = [j for j, v in enumerate(x) if v != 0]
        if not active:
            return
        self.T += a
        self.N += a * math.fsum((x[j] / self.s[j]) ** 2 for j in active)
        factor = math.sqrt(self.T / self.N)
        rates = {j: factor / (self.s[j] * math.sqrt(self.G[j])) for j in active}
        reach = math.fsum(x[j] ** 2 * rate for j, rate in rates.items())
        far = self.distance(y * s, self.eta * a * reach)
        for j, rate in rates.items():
            self.w[j] += y * far / reach * rate * x[j]

    def distance(self, z, h):
        """Move z with the speed of the loss for the time h: exactly for the hinge, by bisection for the logistic."""
        if self.loss == "hinge":
            return min(h, 1 - z)
        low, high = 0.0, h
        for _ in range(200):
            middle = (low + high) / 2
            if middle + math.exp(z) * math.expm1(middle) < h:
                low = middle
            else:
                high = middle
        return (low + high) / 2


class FTRL(Gradient):
    """McMahan et al. 2013, Algorithm 1."""

    def __init__(self, n, alpha=0.1, beta=1.0, l1=0.0, l2=0.0):
        super().__init__(n, "logistic")
        self.alpha, self.beta, self.l1, self.l2 = alpha, beta, l1, l2
        self.z, self.n = [0.0] * n, [0.0] * n

    def descend(self, x, y, s, g, a):
        for j, v in enumerate(x):
            if g * v == 0:
                continue
            sigma = (math.sqrt(self.n[j] + (g * v) ** 2) - math.sqrt(self.n[j])) / self.alpha
            self.z[j] += g * v - sigma * self.w[j]
            self.n[j] += (g * v) ** 2
            if abs(self.z[j]) <= self.l1:
                self.w[j] = 0.0
            else:
                rate = (self.beta + math.sqrt(self.n[j])) / self.alpha + self.l2
                self.w[j] = -(self.z[j] - math.copysign(self.l1, self.z[j])) / rate


class Gaussian(Base):
    """A mean and Σ: a matrix S of the first `full` features, which all classes share, and variances of the others.

    Weight j of class r stands at j·k + r.
    """

    def __init__(self, n, full=0):
        super().__init__(n)
        self.full, self.s, self.moved = full, [1.0] * n, [False] * n
        self.S = [[float(i == j) for j in range(full)] for i in range(full)]

    @property
    def leading(self):
        return min(self.full, len(self.w) // self.classes)

    def sure(self, r, x):
        """The library computes with a root of S, and so with rounding errors where S itself is exact."""
        return not self.full or not any(m and v for m, v in zip(self.moved[r :: self.classes], x, strict=True))

    def parts(self, z):
        """The leading part of z, class by class."""
        end = self.leading * self.classes
        return [z[r : end : self.classes] for r in range(self.classes)]

    def spread(self, z):
        u, end = [s * v for s, v in zip(self.s, z, strict=True)], self.leading * self.classes
        for r, x in enumerate(self.parts(z)):
            u[r : end : self.classes] = [dot(row[: self.leading], x) for row in self.S[: self.leading]]
        return u

    def change(self, a, b, z):
        u = self.spread(z)
        self.move(a, u)
        self.moved = [m or v != 0 for m, v in zip(self.moved, u, strict=True)]
        for i in range(self.leading):  # every class has its own step of S; they share the mean
            for j in range(self.leading):
                self.S[i][j] -= b * math.fsum(x[i] * x[j] for x in self.parts(u)) / self.classes
        for j in range(self.leading * self.classes, len(u)):
            self.s[j] -= b * u[j] ** 2

    def add_class(self, place):
        """Insert a class at this place among the others."""
        for values, start in ((self.w, 0.0), (self.s, 1.0), (self.moved, False)):
            for j in reversed(range(len(values) // self.classes)):
                values.insert(j * self.classes + place, start)
        self.classes += 1


class AROW(Gaussian):
    """Crammer, Kulesza & Dredze 2009, Figure 1."""

    def __init__(self, n, r=1.0, full=0):
        super().__init__(n, full)
        self.r = r

    def step(self, x, y, a):
        m, v = self.score(x), dot(self.spread(x), x)
        if m * y < 1 and a > 0 and v > 0:
            beta = 1 / (v + self.r / a)
            self.change(max(0.0, 1 - y * m) * beta * y, beta, x)
        return abs(1 - m * y) or float(not self.full)


class SCW(Gaussian):
    """Wang, Zhao & Hoi 2012, Propositions 1 and 2."""

    def __init__(self, n, eta=0.9, C=1.0, variant="SCW-I", full=0):
        super().__init__(n, full)
        self.phi, self.C, self.variant = NormalDist().inv_cdf(eta), C, variant

    def step(self, x, y, a):
        m, v, phi, C = y * self.score(x), dot(self.spread(x), x), self.phi, self.C * a
        if v == 0 or C == 0 or phi * math.sqrt(v) - m <= 0:
            return 1.0
        if self.variant == "SCW-I":
            psi, zeta = 1 + phi**2 / 2, 1 + phi**2
            alpha = (-m * psi + math.sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta)
            alpha = min(C, max(0.0, alpha))
        else:
            n = v + 1 / (2 * C)
            gamma = phi * math.sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
            alpha = max(0.0, (-(2 * m * n + phi**2 * m * v) + gamma) / (2 * (n**2 + n * v * phi**2)))
        u = (-alpha * v * phi + math.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) ** 2 / 4
        self.change(alpha * y, alpha * phi / (math.sqrt(u) + v * alpha * phi), x)
        return 1.0


class Outcome:
    """What an oracle has done with examples: scores, mistakes, weights, and how near it came to a jump."""

    def __init__(self, oracle, X, y, weights, *, intercept, classes=None):
        self.mistakes, self.scores, self.edge = [], [], math.inf
        oracle.classes = classes or 1
        for t, (row, label, a) in enumerate(zip(X, y, weights, strict=True)):
            x, y_t = [1.0] * intercept + [float(v) for v in row], label
            sure = all(oracle.sure(r, x) for r in range(oracle.classes))
            if classes is not None:
                x, y_t = self.pair(oracle, x, label, classes)
            score = oracle.score(x) if classes is None else dot(oracle.w, x)
            self.edge = min(self.edge, abs(score) or float(sure))
            self.scores.append(score)
            if y_t * score <= 0:
                self.mistakes.append(t)
            self.edge = min(self.edge, oracle.step(x, y_t, float(a)))
        self.w = oracle.shown

    def pair(self, oracle, x, right, k):
        """The example against its best wrong class: entry j of class r stands at j·k + r."""
        totals = [dot(oracle.w[r::k], x) for r in range(k)]
        wrong = max((r for r in range(k) if r != right), key=lambda r: (totals[r], -r))
        for r in {*range(k)} - {right, wrong}:
            sure = oracle.sure(r, x) and oracle.sure(wrong, x)
            self.edge = min(self.edge, abs(totals[wrong] - totals[r]) or float(sure))
        pair = [0.0] * (len(x) * k)
        pair[right::k] = x
        pair[wrong::k] = [-v for v in x]
        return pair, 1
