"""Settings for all tests: bounded run time, the same cases on every machine."""

import hypothesis

hypothesis.settings.register_profile(
    "bounded",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much],
)
hypothesis.settings.register_profile("quick", parent=hypothesis.settings.get_profile("bounded"), max_examples=5)
hypothesis.settings.register_profile("uncompiled", parent=hypothesis.settings.get_profile("bounded"), max_examples=15)
hypothesis.settings.register_profile(
    "mutants",
    parent=hypothesis.settings.get_profile("bounded"),
    max_examples=20,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
hypothesis.settings.load_profile("bounded")


def pytest_collection_modifyitems(items):
    """Run the slow tests first: then no process is left with one at the end while the other has nothing to do."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
