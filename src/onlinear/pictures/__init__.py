"""What results look like: each function returns a `Picture`, plain data that several programs can draw."""

from onlinear.pictures.picture import Axis, Layer, Picture

__all__ = ["Axis", "Layer", "Picture"]
