# make crawl: archive the sample site twice and show what changed (SEEDS=https://... archives that instead)
# make test:  style, types, and the quick tests, in 4 minutes on two cores
# make test-all: style, types, and all tests, as CI runs them
# make picture: draw the delta that the README shows anew; needs Chromium
# make snapshots: write tests/snapshots anew, what every command prints; look at their difference
# make session: record docs/session.md anew, twelve tasks in a terminal
# make docs: the documents as a site in build/docs, with the API reference; a warning is an error
# make bench: the benchmarks that need no data, with DATA=folder all others too, or those of ONLY="crawl store";
#             their tables in docs/performance.md are written anew

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: crawl check test test-all picture snapshots session docs bench clean

$(VENV)/installed: setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -qq --upgrade pip
	$(BIN)/pip install -qq --editable .[dev]
	touch $@

crawl: $(VENV)/installed
ifdef SEEDS
	$(BIN)/scrapy crawl site -a seeds="$(SEEDS)" $(ARGS)
else
	$(BIN)/python -m archivebot.sample
endif

check: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check
	$(BIN)/python -m pytest -m "not long" -n auto --dist worksteal $(ARGS)

# Long tests wait for servers, kills and time limits: one process more than there are cores.
test-all: check
	$(BIN)/python -m pytest -n $$($(BIN)/python -c 'import os; print(os.cpu_count() + 1)') --dist worksteal $(ARGS)

picture: $(VENV)/installed
	$(BIN)/python docs/images/delta.py

snapshots: $(VENV)/installed
	RENEW_SNAPSHOTS=1 $(BIN)/python -m pytest -q tests/test_snapshots.py

session: $(VENV)/installed
	$(BIN)/python -m tests.recorded

docs: $(VENV)/installed
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html docs build/docs

$(VENV)/peers: $(VENV)/installed
	$(BIN)/pip install -qq --editable .[dev,peers]
	touch $@

bench: $(VENV)/peers
	$(BIN)/python benchmarks/run.py $(if $(DATA),--data $(DATA)) $(ONLY)

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
