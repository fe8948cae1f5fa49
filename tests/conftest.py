"""Settings for all tests: bounded run time, the same cases on every machine."""

import hypothesis

hypothesis.settings.register_profile(
    "bounded",
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much],
)
hypothesis.settings.register_profile("quick", parent=hypothesis.settings.get_profile("bounded"), max_examples=5)
hypothesis.settings.register_profile(
    "mutants",
    parent=hypothesis.settings.get_profile("bounded"),
    max_examples=20,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
hypothesis.settings.load_profile("bounded")
