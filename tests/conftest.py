"""Settings for all tests: bounded run time, the same cases on every machine, compiled code shared between processes."""

import hashlib
import os

import hypothesis

hypothesis.settings.register_profile(
    "bounded",
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much],
)
hypothesis.settings.register_profile("quick", parent=hypothesis.settings.get_profile("bounded"), max_examples=5)
hypothesis.settings.load_profile("bounded")


def pytest_configure(config):
    """Let the processes of pytest-xdist keep their compiled code in one cache."""
    if hasattr(config, "workerinput") and not os.environ.get("NUMBA_DISABLE_JIT"):
        from numba.core.caching import IndexDataCacheFile

        IndexDataCacheFile.save = save_by_content


def save_by_content(cache, key, data):
    """Save compiled code in a file named by what it holds.

    numba numbers its files. Two processes that compile at once can take the same number, and the index of one then
    leads to the code of the other. With names made from the key the worst is that an entry is lost, and compiled again.
    """
    name = cache._data_name_pattern.replace("{number:d}", hashlib.sha256(repr(key).encode()).hexdigest()[:32])
    cache._save_data(name, data)
    overloads = cache._load_index()
    overloads[key] = name
    cache._save_index(overloads)
