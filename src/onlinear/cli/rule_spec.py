"""Rules as the command line names them: ``winnow``, ``winnow(beta=0.5)``, ``file.py:MyRule(C=2)``.

``auto`` is the majority of several rules, and ``majority(arow, winnow, file.py:MyRule)`` that of those in brackets.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import click

from onlinear.cli.command import OWN_RULE
from onlinear.errors import OnlinearError, ParameterError, RuleError

_MAJORITY = frozenset({"auto", "majority"})
_OPTIONS = {"intercept": "fit_intercept", "normalize": "normalize"}
"""What a member of a majority may have beside the parameters of its rule."""
_CLOSES = {"(": ")", "[": "]", "{": "}"}


class Spec(NamedTuple):
    """A rule's class and its hyper-parameters."""

    cls: Any
    positional: tuple[Any, ...]
    named: dict[str, Any]
    hint: str

    @property
    def own(self) -> bool:
        """Whether the class is one of the user's."""
        from onlinear.rules.registry import BUILT_IN

        return BUILT_IN.get(self.cls.__qualname__) is not self.cls

    @property
    def bare(self) -> bool:
        """Whether only the class was named."""
        return not self.positional and not self.named

    def make(self, seed: int | None = None) -> Any:
        """Return the rule; one that draws takes the seed, unless it was given its own."""
        named, fields = dict(self.named), self.cls._fields
        for name in named:
            if name not in fields:
                there = f"it has {', '.join(fields)}" if fields else "it has none"
                raise _bad(f"{self.cls.__name__} has no parameter {name!r}{_near(name, fields)}; {there}", self.hint)
        given = {*fields[: len(self.positional)], *named, *self.cls._field_defaults}
        needed = [f"{name}=…" for name in fields if name not in given]
        if needed:
            raise _bad(f"a parameter is missing: {self.cls.__name__}({', '.join(needed)})", self.hint)
        if seed is not None and "seed" in fields and "seed" not in fields[: len(self.positional)]:
            named.setdefault("seed", seed)
        try:
            return self.cls(*self.positional, **named)
        except (ParameterError, TypeError) as error:
            raise _bad(str(error), self.hint) from error


class MajoritySpec(NamedTuple):
    """The members of a majority, each with its options, and the rule that votes; without members, the default."""

    members: tuple[tuple[Spec, dict[str, Any]], ...]
    vote: Spec | None
    hint: str

    @property
    def own(self) -> list[Any]:
        """The classes that were named as those in files or modules."""
        specs = [*(spec for spec, _ in self.members), *([self.vote] if self.vote else [])]
        return list(dict.fromkeys(spec.cls for spec in specs if spec.own))

    def make(self, seed: int | None = None) -> Any:
        """Return the majority; rules that draw take the seed, unless they were given their own."""
        from onlinear.rules.majority import Majority, Member

        vote = {} if self.vote is None else {"vote": self.vote.make(seed)}
        members = [(spec.make(seed), options) for spec, options in self.members]
        listed = [Member(rule, **{"fit_intercept": rule.inputs == "real", **options}) for rule, options in members]
        try:
            return Majority(listed, **vote) if listed else Majority(**vote)
        except ParameterError as error:
            raise _bad(str(error), self.hint) from error


def parse(text: str, hint: str = "--rule") -> Spec | MajoritySpec:
    """Return what a text says; nothing in it is executed but the file or module that it names."""
    inside = _inside_majority(text, hint)
    return parse_one(text, hint) if inside is None else _majority(inside, hint)


def _inside_majority(text: str, hint: str = "--rule") -> str | None:
    """Return what stands in the brackets of a majority; None for a single rule."""
    head, bracket, tail = text.strip().partition("(")
    if _plain(head) not in _MAJORITY:
        return None
    if bracket and not tail.endswith(")"):
        raise _bad(f"{text!r} is not of the form majority(RULE, RULE, …)", hint)
    return tail[:-1]


def _majority(inside: str, hint: str) -> MajoritySpec:
    members: list[tuple[Spec, dict[str, Any]]] = []
    vote = None
    for part in split(inside):
        name, sign, value = (word.strip() for word in part.partition("="))
        if sign and name in {"vote", "eta"}:
            if vote is not None or not value:
                raise _bad("a majority has one vote: vote=RULE, or eta=NUMBER for weighted-majority(eta=NUMBER)", hint)
            vote = parse_one(value if name == "vote" else f"weighted-majority(eta={value})", hint)
        elif sign and name.isidentifier():
            raise _bad(f"{part!r} is not a member; the parameters of a rule stand in its brackets: arow(r=0.5)", hint)
        else:
            spec = parse_one(part, hint)
            named = {key: value for key, value in spec.named.items() if key in spec.cls._fields or key not in _OPTIONS}
            members.append((spec._replace(named=named), _member_options(spec.named, named, hint)))
    return MajoritySpec(tuple(members), vote, hint)


def _member_options(given: dict[str, Any], named: dict[str, Any], hint: str) -> dict[str, bool]:
    """Return the options of a member, which are given like parameters of its rule."""
    options = {_OPTIONS[name]: value for name, value in given.items() if name not in named}
    for name, value in options.items():
        if not isinstance(value, bool):
            raise _bad(f"{name} of a member is {value!r}; it must be True or False", hint)
    return options


def parse_one(text: str, hint: str = "--rule") -> Spec:
    """Return what a text says about a single rule."""
    if _inside_majority(text) is not None:
        raise _bad(f"{text.strip()!r} is a majority, and cannot be a part of another one", hint)
    head, bracket, tail = text.strip().partition("(")
    positional, named = _arguments(text, tail, hint) if bracket else ((), {})
    return Spec(_found(head.strip(), hint), positional, named, hint)


def check_options(rule: Any, *, intercept: bool, normalize: bool) -> None:
    """Refuse options that a rule cannot have, before any data are read."""
    if hasattr(rule, "check_options"):
        rule.check_options(fit_intercept=intercept, normalize=normalize)
    if rule.inputs != "real" and (intercept or normalize):
        option = "--intercept" if intercept else "--normalize"
        raise click.UsageError(f"{type(rule).__name__} takes {rule.inputs} inputs as they are: no {option}")


def split(text: str) -> list[str]:
    """Cut a list at the commas that stand outside brackets and quotes."""
    parts, inside, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _CLOSES:
            inside += 1
        elif letter in _CLOSES.values():
            inside -= 1
        elif letter == "," and inside <= 0:
            parts.append("")
            continue
        parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def files_of(text: str | None) -> list[str]:
    """Return the files in which rules are defined, where any are named."""
    inside = _inside_majority(text or "")
    parts = [text or ""] if inside is None else split(inside)
    heads = (part.partition("(")[0].strip().removeprefix("vote").lstrip(" =") for part in parts)
    homes = [head.rpartition(":")[0] for head in heads]
    return [home for home in homes if home.endswith(".py")]


def _arguments(text: str, tail: str, hint: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    try:
        call = ast.parse(f"rule({tail}", mode="eval").body
    except (SyntaxError, ValueError):
        call = None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise _bad(f"{text!r} is not of the form NAME(parameter=value, …)", hint)
    positional = tuple(_value(node, "", hint) for node in call.args)
    named = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise _bad(f"{text!r} is not of the form NAME(parameter=value, …)", hint)
        if keyword.arg in named:
            raise _bad(f"{keyword.arg} is given twice in {text!r}", hint)
        named[keyword.arg] = _value(keyword.value, f"{keyword.arg}=", hint)
    return positional, named


def _value(node: ast.expr, name: str, hint: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        shown = ast.unparse(node)
        remedy = f'; text is written in quotes: {name}"{shown}"' if isinstance(node, ast.Name) else ""
        raise _bad(f"{name}{shown} is neither a number nor a string{remedy}", hint) from None


def _found(name: str, hint: str) -> Any:
    """Return the class that is meant."""
    from onlinear.rules.registry import ONLINE
    from onlinear.rules.rule import is_rule

    if not name:
        raise _bad("no rule is named", hint)
    home, colon, inside = name.rpartition(":")
    if colon:
        if not home or not inside:
            raise _bad(f"{name!r} is not of the form FILE.py:CLASS or MODULE:CLASS", hint)
        context = click.get_current_context(silent=True)
        if context is not None:
            context.meta.setdefault(OWN_RULE, []).append(name)
        cls = getattr(_module(home, hint), inside, None)
        if not is_rule(cls):
            there = [one for one, value in vars(_module(home, hint)).items() if is_rule(value)]
            listed = f"; it has {', '.join(there)}" if there else "; decorate a NamedTuple with onlinear.rules.rule"
            raise _bad(f"{home} has no rule {inside!r}{_near(inside, there)}{listed}", hint)
        return cls
    known = {_kebab(each): cls for each, cls in ONLINE.items()}
    wanted = _plain(name)
    for each, cls in known.items():
        if _plain(each) == wanted:
            return cls
    near = _near(name.lower(), [*known, "auto", "majority"])
    listed = ", ".join(["auto", "majority(RULE, …)", *known])
    raise _bad(f"there is no rule {name!r}{near}; there are {listed}, and file.py:YourRule", hint)


def _module(home: str, hint: str) -> ModuleType:
    """Import a module by its name, or from a file, as Python itself would from the current folder."""
    path = Path(home)
    is_file = path.suffix == ".py"
    if is_file and not path.is_file():
        raise _bad(f"{home}: there is no such file", hint)
    if not is_file and not all(part.isidentifier() for part in home.split(".")):
        raise _bad(f"{home!r} is neither a file FILE.py nor the name of a module", hint)
    folder = str(path.resolve().parent) if is_file else str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return _from_file(path, hint) if is_file else importlib.import_module(home)
    except (OnlinearError, click.ClickException):
        raise
    except ModuleNotFoundError as error:
        if is_file or error.name is None or not f"{home}.".startswith(f"{error.name}."):
            raise RuleError(f"{home}: {error}") from error
        raise _bad(f"there is no module {home!r} here", hint) from error
    except SystemExit as error:
        raise RuleError(f"{home}: it ends the process while it is imported: sys.exit({error.code!r})") from error
    except Exception as error:  # whatever the user's code may raise
        raise RuleError(f"{home}: {type(error).__name__}: {error}") from error


def _from_file(path: Path, hint: str) -> ModuleType:
    known = sys.modules.get(path.stem)
    place = str(path.resolve())
    if known is not None:
        if getattr(known, "__file__", None) == place:
            return known
        # A model names the module of its rule: another name now would make it another rule.
        raise _bad(f"{path}: a module {path.stem!r} is already in use; give the file another name", hint)
    spec = importlib.util.spec_from_file_location(path.stem, place)
    assert spec is not None  # noqa: S101  # its name ends with .py
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]
        raise
    return module


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def _plain(name: str) -> str:
    return re.sub(r"[-_ ]", "", name).lower()


def _near(name: str, there: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(there), n=1)
    return f" (did you mean {found[0]!r}?)" if found else ""


def _bad(message: str, hint: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint=hint)
