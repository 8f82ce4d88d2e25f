# Everything a developer or a visitor runs. Each target installs what it needs into .venv, once.
#   make demo          install kinode, simulate a camera on a ship in a seaway, write its report
#   make studio        build the page once, and draw: a gallery of examples, or MODEL=axis.yaml
#   make test          the whole test suite: about ten minutes on 2 quiet cores, some 1,000 processor seconds
#                      EXTRAS=test-all: beside Pinocchio, MuJoCo and in a browser too; installs 3.4 GB
#   make test-fast     the tests that start no process and took at most 0.1 s in the last whole run
#   make test-nightly  the whole suite on new random examples, a short run of the benchmarks, the site;
#                      ONLY=frameworks: functions for JAX and PyTorch, installs both, some 500 MB;
#                      ONLY=importers: FMUs in other importers and FMUs of others, installs some 30 MB;
#                      ONLY=mutations: which single faults in the source the tests notice; SEED=2 draws others
#   make lint          ruff and the strict type checkers, of Python and of the player
#   make docs          the documentation site, in site/
#   make bench         the table against the peers; ONLY=loops, circuits, events, stiff or loads: a table of that
#   make refresh       what is written from other sources: types for editors, messages, tables and gallery of the docs, the page;
#                      ONLY=pages: what the snippets of the docs print; ONLY=pictures: their pictures
#   make clean         take out what the tools made, but for .venv

PYTHON  ?= python3
VENV    ?= .venv
EXAMPLE ?= examples/ship_at_sea.py
# A part of a target: make bench ONLY=loops.
ONLY    ?=
SEED    ?= 1
# What tests install: little for a visitor, everything in CI and at night; what then cannot be tried fails.
EXTRAS  ?= $(if $(CI),test-all,test)
# Extra arguments for pytest; `make test PYTEST="tests/model -x"` runs a part.
PYTEST  ?= -n auto --dist worksteal

BIN := $(VENV)/bin
export KINODE_TESTS := $(patsubst test-%,%,$(EXTRAS))
# -qq: errors only.
PIP := $(BIN)/python -m pip install --disable-pip-version-check -qq
SOURCES := src tests benchmarks examples tools $(wildcard docs/*.py)

.DEFAULT_GOAL := help
.PHONY: help demo studio test test-fast test-nightly lint docs bench refresh clean

help:
	@sed -n 's/^#  *\(make .*\)/\1/p; s/^#   \( .*\)/\1/p' Makefile

demo: $(VENV)/.installed
	@$(BIN)/python tools/build_player.py --try
	@$(BIN)/python $(EXAMPLE)

studio: $(VENV)/.installed
	@$(BIN)/python tools/build_player.py
	@$(BIN)/kinode studio $(MODEL)

test: $(VENV)/.installed-$(EXTRAS)
	@$(BIN)/python tools/build_player.py --try
	@$(BIN)/python -m pytest $(PYTEST)

test-fast: $(VENV)/.installed-$(EXTRAS)
	@$(BIN)/python tools/build_player.py --try
	@$(BIN)/python -m pytest -m "not slow" $(PYTEST)

ifeq ($(ONLY),frameworks)
# torch of one version: the newest one may come with the libraries of graphics cards, several GB.
test-nightly: $(VENV)/.installed-test-all
	@$(PIP) "jax>=0.4.34" "torch==2.13.0"
	@KINODE_FRAMEWORKS=1 $(BIN)/python -m pytest tests/frameworks
else ifeq ($(ONLY),importers)
test-nightly: $(VENV)/.installed-test-all
	@$(PIP) libcosimpy ecospy tbb pythonfmu pythonfmu3
	@KINODE_IMPORTERS=1 $(BIN)/python -m pytest tests/fmu_importers
else ifeq ($(ONLY),mutations)
test-nightly: $(VENV)/.installed-test-all
	@$(PIP) coverage
	@$(BIN)/python tools/mutations.py night $(SEED)
else ifeq ($(ONLY),)
# New random examples in every run; what fails is printed with how to repeat it.
test-nightly: $(VENV)/.installed-test-all $(VENV)/.installed-bench docs
	@HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest $(PYTEST)
	@$(BIN)/python benchmarks/run.py --only "UR5: (forward|inverse) dynamics"
	@$(BIN)/python benchmarks/circuits.py --quick
	@$(BIN)/python benchmarks/events.py --quick
else
test-nightly:
	$(error make test-nightly takes ONLY=frameworks, importers or mutations, not ONLY=$(ONLY))
endif

# The programs of the groups; BENCH="--quick" gives one an argument.
BENCH_all      := run
BENCH_loops    := loops
BENCH_circuits := circuits
BENCH_events   := events
BENCH_stiff    := stiff
BENCH_loads    := load_costs
BENCHMARK = $(or $(BENCH_$(or $(ONLY),all)),$(error make bench takes ONLY=loops, circuits, events, stiff or loads, not ONLY=$(ONLY)))

bench: $(VENV)/.installed-bench
	@$(BIN)/python benchmarks/$(BENCHMARK).py $(BENCH)

lint: $(VENV)/.installed-lint
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/mypy
	@$(BIN)/python tools/build_player.py --try
	@$(BIN)/python tools/check_types.py

# Without --quiet, with which mkdocs counts no warnings, so that --strict finds nothing.
docs: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The site is in site/: open site/index.html in a browser."

ifeq ($(ONLY),pages)
refresh: $(VENV)/.installed-test-all
	@$(BIN)/python docs/pages.py
else ifeq ($(ONLY),pictures)
refresh: $(VENV)/.installed-test-all
	@$(BIN)/python tools/build_player.py
	@$(BIN)/python docs/make_pictures.py
	@$(BIN)/python docs/player_pictures.py
	@$(BIN)/python docs/studio_pictures.py
else ifeq ($(ONLY),)
refresh: $(VENV)/.installed
	@$(BIN)/python tools/write_stubs.py
	@$(BIN)/python tools/write_messages.py
	@$(BIN)/python docs/parts.py
	@$(BIN)/python docs/key_tables.py
	@$(BIN)/python docs/gallery.py
	@$(BIN)/python tools/build_player.py
else
refresh:
	$(error make refresh takes ONLY=pages or ONLY=pictures, not ONLY=$(ONLY))
endif

clean:
	rm -rf out site build dist .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# One mark for each set of extras; a change of pyproject.toml installs again.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "kinode needs Python 3.11 or later; this is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "Installing kinode into $(VENV) (once)."
	@$(PIP) --editable .
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	@echo "Installing kinode and what 'make $*' needs into $(VENV) (once)."
	@$(PIP) --editable ".[$*]"
	@touch $@ $(VENV)/.installed
