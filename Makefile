# make run | compile | test | check | format | soak | lock | clean        PYTHON=… chooses the interpreter (3.11 or newer)
# The soak is run before each release; SOAK=tests/discord runs the soak of one part.
SHELL := /bin/sh
PYTHON ?=
PYTHONS := $(if $(PYTHON),$(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)
# Wheels only: a source build would fetch build tools that no hash pins. Empty it on a machine without wheels.
PIP_FLAGS ?= --only-binary :all:
PIP := .venv/bin/python -m pip --disable-pip-version-check -q
PARTS := engine renderers storage mail bot tests
FOUND := $(wildcard $(PARTS))
WORKERS = -n auto --dist worksteal
TESTS ?= $(WORKERS) -q
SOAK ?= tests

.PHONY: run compile test check format soak lock clean

# A service that may not write beside its sources would compile them at every start.
COMPILE_SOURCES = .venv/bin/python -m compileall -q $(filter-out tests,$(FOUND))

compile: .venv/.run
	@$(COMPILE_SOURCES)

run: .venv/.run
	@echo "Railpost starts."
	@exec .venv/bin/railpost

# Where nothing may be written beside the sources, each process of the tests would compile all of them again.
test soak: export PYTHONDONTWRITEBYTECODE =

test: .venv/.test
	.venv/bin/python -m pytest $(TESTS)

check: .venv/.test
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy $(FOUND)
	.venv/bin/python -m pytest -q tests/test_imports.py

format: .venv/.test
	.venv/bin/ruff check --fix-only -q .
	.venv/bin/ruff format -q .

soak: export RAILPOST_TEST_DATABASE ?= start
soak: .venv/.test
	.venv/bin/python -m pytest $(WORKERS) -v --durations 30 -m soak $(SOAK)

.venv/bin/python:
	@for python in $(PYTHONS); do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    rm -rf .venv; \
	    $$python -m venv .venv && exit 0; \
	    rm -rf .venv; \
	    echo "$$python cannot make a virtual environment; install its venv module (Debian: python3-venv)." >&2; \
	    exit 1; \
	  fi; \
	done; \
	echo "Railpost needs Python 3.11 or newer; none of '$(PYTHONS)' is. Name one: make PYTHON=/path/to/python3" >&2; \
	exit 1

.venv/.run: requirements/run.txt pyproject.toml | .venv/bin/python
	@echo "Installing what Railpost needs into .venv; this takes a minute, once."
	$(PIP) install --require-hashes $(PIP_FLAGS) -r requirements/run.txt
	$(PIP) install --no-deps --no-build-isolation --no-index -e .
	@touch $@
	@$(COMPILE_SOURCES)

.venv/.test: requirements/test.txt .venv/.run
	$(PIP) install --require-hashes $(PIP_FLAGS) -r requirements/test.txt
	@touch $@

# Resolved for every platform and Python version at once; the test set keeps the versions of the run set.
COMPILE = build/lock/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-header --quiet --upgrade pyproject.toml --group build

lock:
	@rm -rf build/lock && .venv/bin/python -m venv build/lock
	build/lock/bin/python -m pip --disable-pip-version-check -q install --require-hashes -r requirements/lock.txt
	$(COMPILE) -o requirements/run.txt
	$(COMPILE) --extra postgresql -c requirements/run.txt -o requirements/postgresql.txt
	$(COMPILE) --extra postgresql --group test -c requirements/run.txt -o requirements/test.txt
	build/lock/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --quiet --upgrade --group lock -o requirements/lock.txt
	@rm -rf build/lock

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
	find $(FOUND) -name __pycache__ -type d -prune -exec rm -rf {} +
