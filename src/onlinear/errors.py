"""Every error that the library raises on purpose is an `OnlinearError`."""


class OnlinearError(Exception):
    """The base class of all errors that this library raises."""


class DataError(OnlinearError, ValueError):
    """The examples or the labels are invalid; the message names the place and the value."""


class EmptyFileError(DataError):
    """A file, or the standard input, is empty."""


class ParameterError(OnlinearError, ValueError):
    """An argument or a hyperparameter is out of range; the message names it and the range."""


class RuleError(OnlinearError, TypeError):
    """A rule is faulty: a method is missing, has the wrong parameters, does not compile, or fails in a round.

    The message names the rule and, for a failure, the round and, if it can be found, the line.

    `report` holds numba's full error message, if there is one; it can run to several pages. With
    ``NUMBA_DISABLE_JIT=1`` in the environment rules run as plain Python, for debugging.
    """

    report: str = ""


class ModelError(OnlinearError, ValueError):
    """A file is damaged, has another version, or is not a model file; the message says what was found."""


class AssumptionError(OnlinearError, ValueError):
    """A theorem does not apply: one of its assumptions fails on these examples."""


class VerificationError(OnlinearError):
    """A witness or a certificate does not prove what it claims; the message says what was found instead."""


class DataWarning(UserWarning):
    """Examples do not fit the model that they are given to; the message says how, and where it was first seen."""
