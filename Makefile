# `make demo` trains a private model on real data; `make test` checks everything. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
EXTRAS := test

.PHONY: demo quick test lint types tests docs dist proofs mutants bench bench-full clean help

help:
	@echo "make demo   train a private model on real data, with its ledger's statement"
	@echo "make quick  ruff, mypy, and a few cases of every test but those that need servers, browsers, clusters or data, or are slow"
	@echo "make test   ruff, mypy --strict and all tests, as CI runs them"
	@echo "make docs   the site, into site/: tutorials, how-to pages, explanations, reference, results"
	@echo "make dist   the wheel and the source, into dist/, each installed in a fresh environment and tried"
	@echo "make proofs the long searches of the verification kit, with their times"
	@echo "make mutants  mutation testing of all prices and bounds; what has not changed is skipped, unless FORCE=1"
	@echo "make bench  every benchmark, small: the papers' tables, peers, speed, prices (real data: EXCHEQUER_DATA)"
	@echo "make bench-full  the same at full size, more than an hour; goes on where it was interrupted"
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

# The JOBS processes share the cores: threads of linear algebra in each of them would wait for one another, busily.
quick tests: export OPENBLAS_NUM_THREADS = 1
quick tests: export OMP_NUM_THREADS = 1

quick: lint types
	$(BIN)/pytest -q -n $(JOBS) -m "not slow and not postgres and not browser and not cluster and not data" --cases=3 --hypothesis-profile=quick

test: lint types tests

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

# Each process gets a run of neighbouring tests, and takes over from the other at the end: what a module sets up, the
# site for one, is then set up once.
tests: $(STAMP)
	$(BIN)/pytest -n $(JOBS) --dist worksteal

# Any warning is an error, a link that leads nowhere included. Nothing is fetched, and no server is needed to read it.
docs: $(STAMP)
	$(BIN)/python -m proofs_tests.site site

dist: $(STAMP)
	$(BIN)/python -m proofs_tests.support.programs.packages

# Searches that are too long for every commit: whole learners, worst pairs, false alarms, power, mutants.
proofs: $(STAMP)
	$(BIN)/python -m proofs_tests.support.programs.proofs

# Hours, where much has changed; interrupted, it goes on. What lives, and why: proofs_tests/mutation/survivors.toml.
mutants: $(STAMP)
	nice $(BIN)/python -m proofs_tests.mutation $(if $(FORCE),--force)

# The peers bring packages of their own; `benchmarks.peers.peer_environments` makes environments for them.
bench: $(STAMP)
	$(BIN)/python -m benchmarks all --quick --out benchmark-results/quick

bench-full: $(STAMP)
	$(BIN)/python -m benchmarks all

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist site *.egg-info
