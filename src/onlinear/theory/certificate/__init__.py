"""Certificates: a result beside what the theorems allow, in a form that anybody can check against the data."""

from onlinear.theory.certificate.certificate import Certificate, certify
from onlinear.theory.certificate.limits import Limits

__all__ = ["Certificate", "Limits", "certify"]
