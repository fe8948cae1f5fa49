"""Where examples come from: files and objects as streams, their labels, and the blocks that passes run over."""

from onlinear.data.chunk import Chunk
from onlinear.streams.formats.packed import pack
from onlinear.streams.open import open_stream
from onlinear.streams.reading import Reading
from onlinear.streams.stream import Stream

__all__ = ["Chunk", "Reading", "Stream", "open_stream", "pack"]
