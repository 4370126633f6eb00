# Needs Python 3.11 or newer, make and a network; everything else is installed into .venv from the pinned versions.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RUNS := $(VENV)/.runs
# pip compares each package with its hash, and builds nothing with what it fetches by itself.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Extras of pyproject.toml, such as EXTRAS="hsm oracle": each has its lock.
EXTRAS ?=
# pip-audit and cyclonedx-bom bring packages of their own, which neither Sluice nor its inventory should have.
TOOLS := .venv-tools
# What a user would pick instead of Sluice, by older versions of what Sluice uses; benchmarks run it beside.
PEERS := .venv-peers
# What releases are run with, and not even pip: for the inventory.
CLEAN := .venv-run

# Containers set it. Without bytecode every process of the tests, and of the demo, compiles all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: unit style help install demo data test servers exhaustive test-all mutants check golden coverage docs lint audit sbom format
.PHONY: peers benchmarks clean develop locks licences

help:
	@echo "make install     what releases are run with, from locks/run.lock, into .venv; with EXTRAS=hsm that extra, too"
	@echo "make develop     what tests, linters and documentation need beside it"
	@echo "make demo        releases of a real survey: one refused, one masked, judged, approved, published, one of tables"
	@echo "make data        the data of the shipped release definitions, into ./data (from UCI, or where they lie)"
	@echo "make check       lint, types and the tests that start nothing, in about a minute"
	@echo "make test        these tests, whole releases, and one test of each server, in eight minutes"
	@echo "make servers     the tests that start programs: Prefect, databases, a web server, a browser, R"
	@echo "make exhaustive  the largest cases: a whole file of real data, more generated tables"
	@echo "make test-all    everything, with new examples, and the planted faults that tests must find: hours"
	@echo "make golden      the sentences in tests/golden anew, as the tests find them; for some: make golden ARGS=tests/risk"
	@echo "make mutants     the planted faults alone: which test finds which"
	@echo "make coverage    all tests, and the lines that none of them runs: at most 2 %"
	@echo "make lint        formatting, lint, types, import floors, known vulnerabilities"
	@echo "make docs        the documentation as a site, which works offline: site/index.html"
	@echo "make sbom        the inventory of what is installed for releases, sbom.cdx.json (CycloneDX)"
	@echo "make licences    the licence of each of these packages"
	@echo "make locks       locks/*.lock anew from pyproject.toml; ARGS=--upgrade takes newer versions"
	@echo "make peers       what one would use instead, for the benchmarks, in an environment of its own"
	@echo "make benchmarks  time and memory, beside what else one would use"

install: $(RUNS)
ifneq ($(EXTRAS),)
	@$(PIP_INSTALL) --no-deps --require-hashes --requirement locks/run.lock $(EXTRAS:%=--requirement locks/%.lock)
endif

develop: $(READY)

$(RUNS): locks/run.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Sluice needs Python 3.11 or newer; set PYTHON=")'
	@echo "Installing the pinned versions into $(VENV) (about a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) --no-compile --no-deps --require-hashes --requirement locks/run.lock
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib > /dev/null || true  # on all cores; pip would on one
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m pip check --quiet
	@touch $(RUNS)

$(READY): $(RUNS) locks/develop.lock
	@echo "Installing what tests and documentation need into $(VENV) ..."
	@$(PIP_INSTALL) --no-compile --no-deps --require-hashes --requirement locks/run.lock --requirement locks/develop.lock
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib > /dev/null || true
	@touch $(READY)

demo: $(READY)
	@$(BIN)/python -m deployments.demo.run

data: $(READY)
	@$(BIN)/python -m deployments.data

# Each of several processes has a core: threads of its linear algebra would wait for those of the others, busily.
test servers exhaustive test-all mutants check golden coverage: export OMP_NUM_THREADS := 1

# Releases sync every file to disk, thousands of times in the tests: kept in memory, where there is room, nobody waits.
ifneq ($(shell [ "$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 {print $$4}')" -gt 4000000 ] 2>/dev/null && echo room),)
test servers exhaustive test-all mutants check golden coverage: export TMPDIR := /dev/shm
endif

PARALLEL = --numprocesses $$(getconf _NPROCESSORS_ONLN) --dist loadscope --no-loadscope-reorder
WAITING = --numprocesses $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --dist loadscope --no-loadscope-reorder

# tests/tiers.py says what the tiers are. `make test ARGS="-n 0 tests/risk"` runs some of its tests in one process.
# Before each commit: lint, types, and the tests that start nothing.
# Fewer examples of each property than before a push.
check: export HYPOTHESIS_PROFILE ?= quick
check: $(READY)
	@$(MAKE) --no-print-directory --jobs 2 style unit

unit: $(READY)
	$(BIN)/python -m pytest $(PARALLEL) -m unit $(ARGS)

# Before each push: whole releases, too, and one test of each server.
test: $(READY)
	$(BIN)/python -m pytest $(PARALLEL) -m "(unit or chain or smoke) and not exhaustive" $(ARGS)

# What starts programs, and mostly waits for them: one process more than cores.
servers: $(READY)
	$(BIN)/python -m pytest $(WAITING) -m "servers and not exhaustive" $(ARGS)

# What `make test` and `make servers` leave out.
exhaustive: $(READY)
	$(BIN)/python -m pytest $(PARALLEL) -m exhaustive $(ARGS)

# Before a version is tagged: everything, properties with new examples, and the faults that the tests must find.
test-all: $(READY)
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest $(WAITING) $(ARGS)
	$(MAKE) mutants ARGS=

# After a change of wording: the sentences that people read, as they are now; a person reads what git diff says.
golden: export GOLDEN := rewrite
golden: $(READY)
	$(BIN)/python -m pytest $(WAITING) -m "not exhaustive" $(ARGS)
	@git --no-pager diff --stat -- tests/golden

# Faults planted by hand, each in a copy of the project: `make mutants ARGS="--only expired_approval"` plants one.
mutants: $(READY)
	$(BIN)/python -m tests.mutants $(ARGS)

# Which lines no test runs; the largest cases run none that others do not.
coverage: $(READY)
	$(BIN)/python -m pytest $(WAITING) -m "not exhaustive" --cov --cov-report term:skip-covered $(ARGS)

style: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lint: style audit

$(TOOLS)/.ready: locks/tools.lock
	@$(PYTHON) -m venv $(TOOLS)
	@$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --retries 1 \
	  --no-deps --require-hashes --requirement locks/tools.lock 2> /dev/null
	@touch $(TOOLS)/.ready

# Known vulnerabilities of the pinned packages. Without a network it says that nobody looked, and does not fail.
audit: $(READY)
	@[ -e $(TOOLS)/.ready ] || $(MAKE) --silent $(TOOLS)/.ready || true
	@$(BIN)/python -m deployments.audit $(TOOLS)/bin/pip-audit

# What is installed for releases, in an environment that has nothing else: in CycloneDX's JSON, with licences.
# The same lock gives the same bytes.
sbom: $(TOOLS)/.ready $(CLEAN)/.ready
	@$(TOOLS)/bin/python -W ignore -m cyclonedx_py environment $(CLEAN) --pyproject pyproject.toml \
	  --output-reproducible --output-file sbom.cdx.json
	@echo sbom.cdx.json

# The licence of each package there, as it says itself; fails where one says none.
licences: $(CLEAN)/.ready
	@$(CLEAN)/bin/python -P deployments/licences.py

$(CLEAN)/.ready: locks/run.lock
	@rm -rf $(CLEAN)
	@$(PYTHON) -m venv --without-pip $(CLEAN)
	@$(PYTHON) -m pip --python $(CLEAN)/bin/python install --quiet --disable-pip-version-check --no-compile \
	  --no-deps --require-hashes --requirement locks/run.lock
	@touch $(CLEAN)/.ready

# Anew from pyproject.toml: what is locked stays, but with `make locks ARGS=--upgrade`.
locks: $(TOOLS)/.ready
	@$(PYTHON) -m deployments.locks $(TOOLS)/bin/uv $(ARGS)

docs: $(READY)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo site/index.html

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

peers: $(PEERS)/.ready

# pycanon and anonymeter name versions of NumPy that exclude each other. pycanon finds the same with that of anonymeter,
# and anonymeter something else with that of pycanon: so the lock has the older, and is taken as it is.
$(PEERS)/.ready: locks/peers.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 13) and "the peers need Python 3.11 or 3.12; set PYTHON=")'
	@echo "Installing what benchmarks compare with into $(PEERS) (about a minute) ..."
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --require-hashes --requirement locks/peers.lock
	@touch $(PEERS)/.ready

benchmarks: $(READY)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) $(TOOLS) $(PEERS) $(CLEAN) sbom.cdx.json demo site .sluice .mypy_cache .ruff_cache .pytest_cache .hypothesis
