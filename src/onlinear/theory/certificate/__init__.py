"""Certificates: a result beside what the theorems allow, in a form that anybody can check against the data."""

from onlinear.theory.certificate.certificate import Certificate, certify

__all__ = ["Certificate", "certify"]
