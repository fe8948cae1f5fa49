"""Where examples come from: files and objects as streams, their labels, and the blocks that passes run over."""

from onlinear.streams.chunk import Chunk
from onlinear.streams.opening import open_stream
from onlinear.streams.packed import pack
from onlinear.streams.reading import Reading
from onlinear.streams.stream import Stream

__all__ = ["Chunk", "Reading", "Stream", "open_stream", "pack"]
