# make crawl: archive the sample site twice and show what changed (SEEDS=https://... archives that instead)
# make test:  everything CI runs: style, types, tests

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: crawl test clean

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

test: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
