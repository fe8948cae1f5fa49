"""A file format for a test: a magic word, then lines of a label and one number."""

from pathlib import Path

import numpy as np

from onlinear.data.numbered import array_chunk
from onlinear.streams.formats.format import Format
from onlinear.streams.reader import Reader


class ToyReader(Reader):
    names = ("toy",)
    width = 1

    def __init__(self, files, request):
        self.files, self.columns = files, (1, 0) if request.reading.header is False else (0, 1)

    def chunks(self):
        for file in self.files:
            numbers = np.array([line.split() for line in Path(file).read_text().splitlines()[1:]], dtype=float)
            label, value = self.columns
            yield array_chunk(numbers[:, [value]], numbers[:, label])


FORMAT = Format(
    "toy",
    ToyReader,
    magic=(b"TOY!",),
    endings=(".toy",),
    first_line=lambda line: line.startswith(b"toy:"),
    options=frozenset({"header"}),
    piped=False,
)
