"""Small faults that could be planted in the source, and a fixed sample of them.

A fault is a change of one expression or statement: a comparison, an operator, a constant, a condition, a statement
dropped, arguments swapped. It is known by its file, its function, and the two texts, so its name survives edits
elsewhere, and so does the sample: it has the faults of each package whose names have the smallest hashes.
"""

import ast
import hashlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

SEED = 12
PACKAGE = Path(__file__).parents[1] / "src" / "onlinear"

SAMPLE = {
    "engine": 32,
    "rules": 24,
    "data": 26,
    "models": 22,
    "streams": 40,
    "runs": 32,
    "theory/check": 16,
    "theory/bounds": 14,
    "theory/certificate": 10,
}
"""The number of faults in each package."""

ALWAYS = [
    "data/matrices.py SciPyMatrix.block: X.sum_duplicates() → pass",
    "engine/passes.py learn: reach += step * length(x) → pass",
    (
        "rules/perceptron.py MarginPerceptron.update: a * a → a"
        " in: product, square = (2.0 * a * y * score, a * a * squared_norm(x))"
    ),
    "rules/winnow.py Winnow.update: max(w[n] * factor, _LEAST) → w[n] * factor in: w[n] = max(w[n] * factor, _LEAST)",
]
"""Faults that the tests once missed; they belong to every sample."""

LEFT_OUT = {
    "engine/cache.py": "runs only where numba compiles; make fuzz damages its files",
    "engine/compile.py": "runs only where numba compiles",
    "engine/explain.py": "words an error message",
    "engine/lanes.py": "generates machine code; the tests compare it with groups.py",
    "engine/vectors.py": "generates machine code; the tests compare it with flat.py",
    "streams/formats/text/words.py": "generates machine code; the tests compare it with libsvm_lines.py",
    "theory/certificate/wording.py": "words the output",
}
"""Files without faults, with the reason."""

LEFT_OUT_FUNCTIONS = {"__repr__", "__str__", "_repr_html_", "__dir__"}
"""Functions without faults: what they return is for the eye."""

SIZES = {
    *("BATCH_BYTES", "BATCH_ROWS", "BYTES", "PIECE", "ROWS", "WIDE", "_AHEAD", "_BITS", "_BYTES", "_CELL", "_EDGES"),
    *("_EXACT_AT_A_TIME", "_EXACT_ENTRIES", "_FEWEST", "_LOOKED_AT", "_LOOKED_THROUGH", "_MOST", "_MOST_ENTRIES"),
    *("_MOST_ROWS", "_MOST_SPREAD", "_PIECE", "_PORTION", "_RECENT", "_REMEMBERED", "_ROWS", "_SAMPLE", "_SEARCHED"),
    *("_SHOWN", "_SLICE", "_STEP", "_THREADS"),
}
"""Constants without faults: how much is done at a time, remembered, looked at or shown. Results do not depend on it."""

MESSAGES = {"warn", "debug", "info", "warning"}
"""Methods whose arguments are messages."""

TYPED = {"isinstance", "issubclass", "getattr", "hasattr", "setattr", "cast", "zip", "map", "filter"}
"""Functions whose arguments are not swapped: that would fail wherever it is called."""

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
}
TWINS = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Fault(NamedTuple):
    """A change of one place in the source."""

    name: str
    path: str
    function: str
    line: int
    start: int
    end: int
    """The bytes of the file that are replaced."""
    text: str

    def plant(self, source):
        """Return the bytes of the file with the fault in it."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def changed(node, **fields):
    """Return a copy of the node with other fields."""
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def operator_changes(node):
    """Yield what could stand in place of a comparison or an operation."""
    match node:
        case ast.Compare(ops=ops):
            for k, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield changed(node, ops=[*ops[:k], other(), *ops[k + 1 :]])
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            yield changed(node, op=OPERATORS[type(op)]())
            yield node.left
        case ast.BoolOp(op=op):
            yield changed(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand


def constant_changes(node):
    """Yield what could stand in place of a constant."""
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
            if value:
                yield ast.Constant(value - 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(2.0 * value if value else 1.0)
            if value:
                yield ast.Constant(0.0)


def other_changes(node):
    """Yield what could stand in place of a choice, a slice or a call."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            yield body
            yield orelse
        case ast.Subscript(slice=ast.Slice(lower=lower, upper=upper) as bounds):
            one = ast.Constant(1)
            if upper is not None:
                yield changed(node, slice=changed(bounds, upper=ast.BinOp(upper, ast.Sub(), one)))
            if lower is not None:
                yield changed(node, slice=changed(bounds, lower=ast.BinOp(lower, ast.Add(), one)))
        case ast.Call(func=ast.Name("abs"), args=[inner]):
            yield inner
        case ast.Call(func=ast.Name(name)) if name in TWINS:
            yield changed(node, func=ast.Name(TWINS[name]))
            if len(node.args) > 1:
                yield node.args[0]
        case ast.Call(func=func, args=[first, second, *others]) if ast.unparse(func) not in TYPED:
            # What is written alike may be of one type; swapping other arguments would fail at once.
            if type(first) is type(second) and ast.dump(first) != ast.dump(second):
                yield changed(node, args=[second, first, *others])


def statement_changes(node, returns):
    """Yield what could stand in place of a statement; `returns` is the annotation of its function."""
    match node:
        case ast.Raise() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.AugAssign(op=op):
            yield ast.Pass()
            if type(op) in OPERATORS:
                yield changed(node, op=OPERATORS[type(op)]())
        case ast.If(test=test):
            yield test, ast.Constant(value=True)
            yield test, ast.Constant(value=False)
        case ast.While(test=test):
            yield test, ast.Constant(value=False)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            if returns in {"int", "float"}:
                yield value, ast.Constant(0)
            elif returns == "bool":
                yield value, ast.UnaryOp(ast.Not(), value)


class Places(ast.NodeVisitor):
    """Finds the places in a file where faults can be planted."""

    def __init__(self):
        self.found = []
        self._scope = []
        self._returns = None
        self._statement = ""

    def visit(self, node):
        if isinstance(node, ast.stmt):
            self._statement = ast.unparse(node).partition("\n")[0]
            for change in statement_changes(node, self._returns):
                self._add(*(change if isinstance(change, tuple) else (node, change)))
        elif isinstance(node, ast.expr):
            for change in (*operator_changes(node), *constant_changes(node), *other_changes(node)):
                self._add(node, change)
        super().visit(node)

    def _add(self, old, new):
        self.found.append((".".join(self._scope) or "<module>", self._statement, old, new))

    def visit_FunctionDef(self, node):
        if node.name in LEFT_OUT_FUNCTIONS:
            return
        outer = self._scope, self._returns
        self._scope = [*self._scope, node.name]
        self._returns = node.returns and ast.unparse(node.returns)
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self._scope, self._returns = outer

    def visit_ClassDef(self, node):
        self._scope = [*self._scope, node.name]
        for statement in node.body:
            self.visit(statement)
        self._scope = self._scope[:-1]

    def visit_Assign(self, node):
        if not (isinstance(node.targets[0], ast.Name) and node.targets[0].id in SIZES):
            self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node):
        """Its message is not changed."""

    def visit_Assert(self, node):
        """It is never wrong."""

    def visit_JoinedStr(self, node):
        """It is a message."""

    def visit_keyword(self, node):
        if node.arg != "stacklevel":
            self.visit(node.value)

    def visit_Call(self, node):
        if not (isinstance(node.func, ast.Attribute) and node.func.attr in MESSAGES):
            self.generic_visit(node)


def short(text):
    """Return a text with its middle left out if it is long."""
    return text if len(text) <= 100 else f"{text[:60]} … {text[-37:]}"


def faults_in(path):
    """Return all faults that could be planted in a file of the package."""
    source = (PACKAGE / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    places = Places()
    places.visit(ast.parse(source))
    repeated = Counter()
    faults = []
    for function, statement, old, new in places.found:
        text = ast.unparse(new)
        change = f"{short(ast.unparse(old))} → {short(text)}"
        where = "" if isinstance(old, ast.stmt) else f" in: {short(statement)}"
        name = f"{path} {function}: {change}{where}"
        repeated[name] += 1
        if repeated[name] > 1:
            name += f" ({repeated[name]})"
        start, end = starts[old.lineno - 1] + old.col_offset, starts[old.end_lineno - 1] + old.end_col_offset
        text = f"({text})" if isinstance(new, ast.expr) else text
        faults.append(Fault(name, path, function, old.lineno, start, end, text))
    return faults


def rank(fault):
    """Return where in the order of the sample a fault stands."""
    return hashlib.sha256(f"{SEED} {fault.name}".encode()).hexdigest()


def sample(size):
    """Return a sample of about this many faults, in the proportions of `SAMPLE`: at most one per line, and `ALWAYS`."""
    chosen, known = {}, {}
    for package, number in SAMPLE.items():
        files = sorted((PACKAGE / package).rglob("*.py"))
        paths = [path.relative_to(PACKAGE).as_posix() for path in files]
        candidates = sorted((fault for path in paths if path not in LEFT_OUT for fault in faults_in(path)), key=rank)
        known |= {fault.name: fault for fault in candidates}
        lines = {}
        for fault in candidates:
            lines.setdefault((fault.path, fault.line), fault)
        share = max(1, round(number * size / sum(SAMPLE.values())))
        chosen |= {fault.name: fault for fault in list(lines.values())[:share]}
    return list((chosen | {name: known[name] for name in ALWAYS}).values())
