# `make demo` trains a private model on real data; `make test` checks everything. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
EXTRAS := test

.PHONY: demo test lint types tests proofs bench clean help

help:
	@echo "make demo   train a private model on real data, with its ledger's statement"
	@echo "make test   ruff, mypy --strict and all tests, as CI runs them"
	@echo "make proofs the long searches of the verification kit, with their times"
	@echo "make bench  the papers' tables, ours beside its peers, speed, prices (needs EXCHEQUER_DATA; more than an hour)"
	@echo "make clean  remove the environment and all caches"

$(STAMP): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "missing: $(PYTHON). Install Python 3.11 or newer, or run make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11: run make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "missing: Python's venv module (on Debian: apt-get install python3-venv)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]' || { echo "could not install the packages: is the package registry reachable?"; exit 1; }
	@touch $@

demo: $(STAMP)
	$(BIN)/exchequer demo

test: lint types tests

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

tests: $(STAMP)
	$(BIN)/pytest -n $(JOBS)

# Searches that are too long for every commit: whole learners, worst pairs, false alarms, power, mutants.
proofs: $(STAMP)
	$(BIN)/python -m proofs_tests.support.proofs

# The peers bring packages of their own, so they get an environment of their own.
bench:
	@$(MAKE) VENV=.venv-bench EXTRAS=bench .venv-bench/.installed
	.venv-bench/bin/python -m benchmarks recommended
	.venv-bench/bin/python -m benchmarks adult
	.venv-bench/bin/python -m benchmarks boosted-trees
	.venv-bench/bin/python -m benchmarks peers
	.venv-bench/bin/python -m benchmarks halfspaces
	.venv-bench/bin/python -m benchmarks random-features
	.venv-bench/bin/python -m benchmarks speed
	.venv-bench/bin/python -m benchmarks ledger
	.venv-bench/bin/python -m benchmarks durable
	.venv-bench/bin/python -m benchmarks verification
	.venv-bench/bin/python -m benchmarks composition
	.venv-bench/bin/python -m benchmarks selection

clean:
	rm -rf .venv .venv-bench .mypy_cache .pytest_cache .ruff_cache .hypothesis build *.egg-info
