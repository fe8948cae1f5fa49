"""The faces that scikit-learn's users know."""
