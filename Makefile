# Everything a developer or a visitor runs. Each target installs what it needs into .venv, once.
#   make demo          install kinode, simulate a camera on a ship in a seaway, write its report
#   make test          the whole test suite: about nineteen minutes on 2 cores
#   make test-fast     the tests that are not marked slow: a minute and a half on 2 cores, the first time two and a half
#   make test-nightly  the whole suite on new random examples, a short run of the benchmarks, the site
#   make test-frameworks  functions for JAX and PyTorch; installs both, some 500 MB
#   make test-importers   FMUs in importers besides FMPy, and FMUs of others; installs libcosimpy, ecospy, pythonfmu, some 30 MB
#   make studio        build the page once, and draw: a gallery of examples, or MODEL=axis.yaml
#   make player        the page that shows runs moving, once (node from the registry where there is none)
#   make lint          ruff and the strict type checker
#   make stubs         the types that editors and type checkers see, from the declared kinds
#   make docs          the documentation site, in site/
#   make bench         the table against the peers
#   make bench-loops   error against time of mechanisms with loops, beside Exudyn and MuJoCo
#   make bench-circuits  an arm with drives and control, beside MuJoCo; growth of networks
#   make bench-loads   what reactions and audits cost beside their runs
#   make bench-stiff   stiff systems, beside CVODE on the same right side
#   make bench-events  what events cost; an arm with friction that sticks, beside MuJoCo

PYTHON  ?= python3
VENV    ?= .venv
EXAMPLE ?= examples/ship_at_sea.py
# Extra arguments for pytest; `make test PYTEST="tests/model -x"` runs a part.
PYTEST  ?= -n auto --dist worksteal

BIN := $(VENV)/bin
# -qq: errors only.
PIP := $(BIN)/python -m pip install --disable-pip-version-check -qq
SOURCES := src tests benchmarks examples tools $(wildcard docs/*.py)

.DEFAULT_GOAL := help
.PHONY: help demo studio player test test-fast test-nightly test-frameworks test-importers bench bench-loops bench-circuits bench-events bench-loads bench-stiff lint stubs docs clean

help:
	@sed -n 's/^#  *\(make .*\)/\1/p' Makefile

demo: $(VENV)/.installed
	@$(BIN)/python tools/build_player.py --try
	@$(BIN)/python $(EXAMPLE)

studio: $(VENV)/.installed
	@$(BIN)/python tools/build_player.py
	@$(BIN)/kinode studio $(MODEL)

player: $(VENV)/.installed
	@$(BIN)/python tools/build_player.py

test: $(VENV)/.installed-test
	@$(BIN)/python tools/build_player.py --try
	@$(BIN)/python -m pytest $(PYTEST)

test-fast: $(VENV)/.installed-test
	@$(BIN)/python tools/build_player.py --try
	@$(BIN)/python -m pytest -m "not slow" $(PYTEST)

# New random examples in every run; what fails is printed with how to repeat it.
test-nightly: $(VENV)/.installed-test $(VENV)/.installed-bench docs
	@HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest $(PYTEST)
	@$(BIN)/python benchmarks/run.py --only "UR5: (forward|inverse) dynamics"
	@$(BIN)/python benchmarks/circuits.py --quick
	@$(BIN)/python benchmarks/events.py --quick

# torch of one version: the newest one may come with the libraries of graphics cards, several GB.
test-frameworks: $(VENV)/.installed-test
	@$(PIP) "jax>=0.4.34" "torch==2.13.0"
	@KINODE_FRAMEWORKS=1 $(BIN)/python -m pytest tests/frameworks

test-importers: $(VENV)/.installed-test
	@$(PIP) libcosimpy ecospy tbb pythonfmu pythonfmu3
	@KINODE_IMPORTERS=1 $(BIN)/python -m pytest tests/fmu_importers

bench: $(VENV)/.installed-bench
	@$(BIN)/python benchmarks/run.py $(BENCH)

bench-loops: $(VENV)/.installed-bench
	@$(BIN)/python benchmarks/loops.py $(BENCH)

bench-loads: $(VENV)/.installed-bench
	@$(BIN)/python benchmarks/load_costs.py $(BENCH)

bench-circuits: $(VENV)/.installed-bench
	@$(BIN)/python benchmarks/circuits.py $(BENCH)

bench-stiff: $(VENV)/.installed-bench
	@$(BIN)/python benchmarks/stiff.py $(BENCH)

bench-events: $(VENV)/.installed-bench
	@$(BIN)/python benchmarks/events.py $(BENCH)

lint: $(VENV)/.installed-lint
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/mypy

stubs: $(VENV)/.installed
	@$(BIN)/python tools/write_stubs.py

docs: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The site is in site/: open site/index.html in a browser."

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
