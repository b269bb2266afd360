# Every target works from a clean clone: the first one called builds .venv from requirements.lock,
# later ones reuse it until requirements.lock or pyproject.toml changes.
#   make demo                          make test ARGS="-k gaussian"
#   make bench ARGS=--help             make lock ARGS=--upgrade
PYTHON ?= python3
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# -qq silences warnings, not errors.
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

.PHONY: help demo test check bench experiments lock clean

help:  ## list the targets (the default)
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/make \1\t\2/p' Makefile

demo: $(READY)  ## a worked example, from queries to private answers
	@$(BIN)/leastnoise demo $(ARGS)

# One BLAS thread per worker: two workers with two threads each only get in each other's way.
test: $(READY)  ## run the tests, two at a time
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 $(ARGS)

check: $(READY)  ## lint, format, types and the docs, without changing a file
	@$(BIN)/ruff check --quiet --output-format concise .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary
	@if [ -f tests/test_docs.py ]; then $(BIN)/python -m pytest -q tests/test_docs.py; fi

bench: $(READY)  ## time the solvers and the release; ARGS go to benchmarks
	@$(BIN)/python -m benchmarks $(ARGS)

experiments: $(READY)  ## run every experiment of the paper; ARGS=--quick takes minutes
	@$(BIN)/leastnoise experiment all $(ARGS)

# pip-compile keeps the pins it finds unless ARGS=--upgrade; nothing but pins and hashes is kept.
lock: $(READY)  ## write requirements.lock anew from pyproject.toml
	@$(BIN)/pip-compile --quiet --extra dev --generate-hashes --allow-unsafe --strip-extras \
	    --no-header --no-annotate --no-emit-options $(ARGS) \
	    --output-file requirements.lock pyproject.toml
	@sed '/^#/d; /^$$/d' requirements.lock > requirements.lock.new
	@mv requirements.lock.new requirements.lock

clean:  ## remove caches and build products; .venv stays
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): requirements.lock pyproject.toml
	@test -x $(BIN)/pip || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "leastnoise needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@test -x $(BIN)/pip || { echo "setting up $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@
