# Start with `make demo` and `make test`. Every target sets up .venv as needed.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(wildcard native/*.cpp native/*.hpp) CMakeLists.txt pyproject.toml
BENCHMARKS := $(filter-out __% measure peers ranking report,$(basename $(notdir $(wildcard benchmarks/*.py))))

# The paper's data sets: a folder next to the checkout, unless CGENS_DATA names another.
ifneq ($(wildcard ../shared/data),)
export CGENS_DATA ?= $(abspath ../shared/data)
endif
# Tests of a file run in the same worker, in the order of the files (see tests/conftest.py); a crash ends the run.
PYTEST = $(BIN)/python -m pytest -q -n logical --maxprocesses 2 --max-worker-restart 0 \
	--dist loadfile --no-loadscope-reorder

.PHONY: demo test test-slow coverage lint types format bench reproduce faults sanitize stubs clean help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

.venv/installed: $(SOURCES)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "cgens needs Python 3.11 or later; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group dev --editable ".[all]"
	touch $@

demo: .venv/installed  ## train, compare, and save figures in demo/
	$(BIN)/python examples/demo.py

test: .venv/installed  ## run the fast tests and the docstring examples
	$(PYTEST) -m "not slow" --doctest-modules src tests

test-slow: .venv/installed  ## run the slow tests
	$(PYTEST) -m slow tests

coverage: .venv/installed  ## measure line and branch coverage of src with the fast tests
	$(PYTEST) -m "not slow" --cov --cov-report term --doctest-modules src tests

lint: .venv/installed  ## check with ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed  ## check src with mypy, strict
	$(BIN)/mypy

format: .venv/installed  ## fix and format with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/installed $(BENCHMARKS:%=bench-%)  ## run all benchmarks, or a single one: for example, make bench-binary
bench-%: .venv/installed
	$(BIN)/python -m benchmarks.$*

reproduce: .venv/installed  ## compute the paper's missing tables and figures; REPRODUCE=--quick: short version, minutes
	$(BIN)/python -m experiments $(REPRODUCE)

stubs: .venv/installed  ## generate src/cgens/_core.pyi
	$(BIN)/python -m nanobind.stubgen -m cgens._core -o src/cgens/_core.pyi
	$(BIN)/ruff format src/cgens/_core.pyi

faults: .venv/installed  ## inject deliberate faults, each of which `make test` must catch; takes half an hour
	$(BIN)/python tools/inject_faults.py

sanitize: .venv/installed  ## test the compiled core with AddressSanitizer and UBSan
	bash tests/sanitize.sh

clean:  ## remove all build products
	rm -rf .venv .faults .sanitize .coverage build demo
