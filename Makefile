# Needs Python 3.11 or newer, make and a network; everything else is installed into .venv from the pinned versions.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help install demo test lint format benchmarks clean

help:
	@echo "make demo        two releases of a real survey: one refused, one masked, judged, approved, published"
	@echo "make test        all tests"
	@echo "make lint        formatting, lint, types, import floors"
	@echo "make benchmarks  time and memory, beside what else one would use"

install: $(READY)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Sluice needs Python 3.11 or newer; set PYTHON=")'
	@echo "Installing the pinned versions into $(VENV) (about a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(READY)

demo: $(READY)
	@$(BIN)/python deployments/demo/run.py

test: $(READY)
	$(BIN)/python -m pytest $(ARGS)

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

benchmarks: $(READY)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) demo .sluice .mypy_cache .ruff_cache .pytest_cache .hypothesis
