"""What can go wrong, in one hierarchy: every error that the library raises on purpose is an `OnlinearError`."""


class OnlinearError(Exception):
    """The root: catch it to catch everything that this library reports."""


class DataError(OnlinearError, ValueError):
    """The examples or the labels cannot be learned from; the message names the place and the value."""


class ParameterError(OnlinearError, ValueError):
    """An argument or a hyper-parameter is outside its range; the message names it and the range."""


class RuleError(OnlinearError, TypeError):
    """A rule is faulty (a method is missing, has other parameters, does not compile); the message names the rule.

    `report` holds numba's own words, where it has been at work; they run to pages. With
    ``NUMBA_DISABLE_JIT=1`` in the environment rules run as plain Python, for the debugger.
    """

    report: str = ""


class ModelError(OnlinearError, ValueError):
    """A model file is damaged, of another version, or not one at all; the message says what was found."""


class AssumptionError(OnlinearError, ValueError):
    """A theorem does not apply: an assumption of its fails on these examples."""


class VerificationError(OnlinearError):
    """A witness or a certificate does not prove what it claims; the message says what was found instead."""
