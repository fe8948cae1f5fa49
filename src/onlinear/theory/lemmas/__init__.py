"""The lemmas behind the mistake bounds, checked at every update of a trace."""

from onlinear.theory.lemmas.claims import Broken, LemmaReport
from onlinear.theory.lemmas.verify import verify_lemmas

__all__ = ["Broken", "LemmaReport", "verify_lemmas"]
