"""Reading ahead: items are read and processed in other threads while the caller learns from earlier ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")

_THREADS = 2
_AHEAD = 4
"""How many items may be in progress or ready at a time: this bounds memory."""


def map_ahead(items: Iterable[A], work: Callable[[A], B]) -> Iterator[B]:
    """Yield ``work(item)`` for each item, in order; an error is raised in its place."""
    ready: SimpleQueue[Future[B] | None] = SimpleQueue()
    room = threading.Semaphore(_AHEAD)
    stopped = threading.Event()
    pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="onlinear")

    def feed() -> None:
        try:
            drawn = iter(items)
            while room.acquire() and not stopped.is_set():
                try:
                    item = next(drawn)
                except StopIteration:
                    break
                ready.put(pool.submit(work, item))
        except BaseException as error:  # noqa: BLE001  # raised to the caller, in its place
            failed: Future[B] = Future()
            failed.set_exception(error)
            ready.put(failed)
        finally:
            ready.put(None)
            close = getattr(items, "close", None)
            if close is not None:
                close()

    # A daemon: it may wait for ever for a pipe.
    threading.Thread(target=feed, daemon=True).start()
    try:
        while (done := ready.get()) is not None:
            yield done.result()
            room.release()
    finally:
        stopped.set()
        room.release()
        pool.shutdown(wait=False, cancel_futures=True)
