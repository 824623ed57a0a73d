# Two commands for everybody: `make demo` and `make test`. Each prepares what it needs in .venv.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(wildcard native/*.cpp native/*.hpp) CMakeLists.txt pyproject.toml
BENCHMARKS := $(filter-out __% measure report,$(basename $(notdir $(wildcard benchmarks/*.py))))

# Data sets of the paper: a folder beside the checkout, unless CGENS_DATA names another.
ifneq ($(wildcard ../shared/data),)
export CGENS_DATA ?= $(abspath ../shared/data)
endif
# Tests of one file stay together (tests/conftest.py says more), files go in the order in which they are found.
PYTEST = $(BIN)/python -m pytest -q -n logical --maxprocesses 2 --dist loadfile --no-loadscope-reorder

.PHONY: demo test test-slow coverage lint types format bench reproduce sanitize stubs clean help

help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

.venv/installed: $(SOURCES)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "cgens needs Python 3.11 or later; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group dev --editable ".[all]"
	touch $@

demo: .venv/installed  ## train, compare, and draw pictures into demo/
	$(BIN)/python examples/demo.py

test: .venv/installed  ## the fast tests and every docstring's example
	$(PYTEST) -m "not slow" --doctest-modules src tests

test-slow: .venv/installed  ## the rest
	$(PYTEST) -m slow tests

coverage: .venv/installed  ## what of src the fast tests run: lines and branches
	$(PYTEST) -m "not slow" --cov --cov-report term --doctest-modules src tests

lint: .venv/installed  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed  ## mypy, strict, on src/
	$(BIN)/mypy

format: .venv/installed  ## let ruff put everything in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/installed $(addprefix bench-,$(BENCHMARKS))  ## all benchmarks; or one: make bench-binary
bench-%: .venv/installed
	$(BIN)/python -m benchmarks.$*

reproduce: .venv/installed  ## the paper's tables and figures; goes on where it was. REPRODUCE=--quick: in minutes
	$(BIN)/python -m experiments $(REPRODUCE)

stubs: .venv/installed  ## write src/cgens/_core.pyi anew
	$(BIN)/python -m nanobind.stubgen -m cgens._core -o src/cgens/_core.pyi
	$(BIN)/ruff format src/cgens/_core.pyi

sanitize: .venv/installed  ## the compiled core under AddressSanitizer and UBSan
	bash tests/sanitize.sh

clean:  ## remove everything that was built
	rm -rf .venv .sanitize .coverage build demo
