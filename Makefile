# Needs Python 3.11 or later, and make; everything else is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
# Two processes take tests from one queue; what one has compiled the other finds on disk.
PYTEST := $(BIN)/python -m pytest --numprocesses=2 --dist=worksteal
PIP := bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
# Checks pages for accessibility; for the tests only, and not part of the package.
AXE := build/axe/package/axe.min.js

.PHONY: run test compiled uncompiled check quick lint browser bench fuzz kill mutants docs wheel clean

run: $(READY)
	@$(BIN)/python -m onlinear.cli.tour

test: compiled uncompiled

compiled: $(READY)
	$(PYTEST) --durations=15

uncompiled: $(READY)
	NUMBA_DISABLE_JIT=1 $(PYTEST) --hypothesis-profile=uncompiled tests/properties tests/test_rules.py tests/test_runs.py tests/test_converge.py

# For daily work: no slow tests, and few examples of each property.
check: lint quick

quick: $(READY)
	$(PYTEST) --hypothesis-profile=quick -m "not slow" tests

lint: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# What the tests of reports look at pages with; without it they are skipped. As root, it installs Debian's Chromium.
browser: $(AXE)
	command -v chromium > /dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }

$(AXE):
	mkdir -p build/axe
	cd build/axe && npm pack --silent axe-core@4.14.0 && tar -xzf axe-core-4.14.0.tgz package/axe.min.js package/LICENSE

bench: $(READY)
	.venv/$(PIP) --group bench
	@$(BIN)/python benchmarks/ratios.py
	@$(BIN)/python benchmarks/rules.py
	@$(BIN)/python benchmarks/faces.py
	@$(BIN)/python benchmarks/fit.py
	@$(BIN)/python benchmarks/streams.py
	@$(BIN)/python benchmarks/start.py
	@$(BIN)/python benchmarks/theory.py
	@$(BIN)/python benchmarks/quality.py

# A minute each of arbitrary bytes; what is found goes to build/fuzz.
fuzz: $(READY)
	.venv/$(PIP) --group fuzz
	$(BIN)/python fuzz/libsvm.py lines 60
	$(BIN)/python fuzz/libsvm.py numbers 60
	$(BIN)/python fuzz/model_file.py 60
	$(BIN)/python fuzz/certificate.py 60
	$(BIN)/python fuzz/cache.py 60

# Training killed at 50 moments; with changed data it must not go on.
kill: $(READY)
	$(BIN)/python tests/kill.py

# Faults planted one at a time: at least 90 % must be caught, and the others explained in mutants/survivors.txt.
mutants: $(READY)
	$(BIN)/python mutants/run.py

docs: $(READY)
	$(BIN)/python docs/build.py

# The tests on the installed wheel, in an environment that has never seen the source.
wheel: $(READY)
	rm -rf dist build/wheel
	$(BIN)/python -m build --no-isolation --wheel
	$(PYTHON) -m venv build/wheel
	build/wheel/$(PIP) --upgrade pip
	build/wheel/$(PIP) --group dev dist/onlinear-*.whl
	build/wheel/bin/python -m pytest tests README.md

$(READY): pyproject.toml constraints.txt src/onlinear/__init__.py
	@$(PYTHON) -c 'import sys; sys.exit("onlinear needs Python 3.11 or later, not " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	.venv/$(PIP) --upgrade pip
	.venv/$(PIP) --group dev
	.venv/$(PIP) --no-build-isolation --editable .
	@touch $@

clean:
	rm -rf .venv build dist .hypothesis .pytest_cache .mypy_cache .ruff_cache
