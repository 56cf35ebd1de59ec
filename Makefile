# make crawl: archive the sample site twice and show what changed (SEEDS=https://... archives that instead)
# make test:  style, types, tests
# make long:  the long tests, which CI runs too
# make bench: the benchmarks that need no data, and with DATA=folder all others

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: crawl test long bench clean

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
	$(BIN)/python -m pytest -m "not long" -n auto --dist worksteal $(ARGS)

long: $(VENV)/installed
	$(BIN)/python -m pytest -m long -n auto --dist worksteal $(ARGS)

# Each line is a benchmark with its arguments; DATA is a folder that holds the data sets by the names below.
define BENCHES
crawl.py
faults.py
frontier.py
resume.py --redis
endef
ifdef DATA
define BENCHES +=

alarms.py $(DATA)/history-dev
blocks.py $(DATA)/blocks-random
dates.py $(DATA)/articles-dev $(DATA)/wcxb-dev
deepweb.py $(DATA)/forms-dev
duplicates.py $(DATA)/history-dev
edits.py $(DATA)/wcxb-dev
fingerprints.py $(DATA)/wcxb-dev
focused.py $(DATA)/webkb --simulate
forms.py $(DATA)/forms-dev
learn_maintext.py $(DATA)/wcxb-dev $(DATA)/articles-dev
localise.py $(DATA)/history-dev
maintext.py $(DATA)/wcxb-dev
partition.py $(DATA)/history-dev
robots.py $(DATA)/robots-dev
store.py $(DATA)/history-dev
topic.py $(DATA)/webkb
warc.py $(DATA)/warc-dev
endef
endif
export BENCHES

bench: $(VENV)/installed
	@printf '%s\n' "$$BENCHES" | { \
		while read -r bench; do \
			echo "== $$bench"; \
			$(BIN)/python benchmarks/$$bench < /dev/null || failed="$$failed $${bench%% *}"; \
		done; \
		test -z "$$failed" || { echo "failed:$$failed"; exit 1; }; \
	}

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
