"""`python -m onlinear.experiments`: the perceptron against Winnow, in small."""

import sys

from onlinear.experiments import figure2

sys.stdout.write(f"{figure2('small')}\n")
