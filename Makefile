# Everything runs in .venv, which `install` makes; PYTHON=python3.12 picks another interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TRAIN_ENV ?= lightsout-cursor
RUN := runs/$(TRAIN_ENV)-seads-default-seed0

.PHONY: install train test test-slow lint bench docs gallery
.DEFAULT_GOAL := install

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt \
		--editable ".[dev,video,plots,web,planning,robot,sweep,examples]"
	@touch $@

# An interrupted run is resumed, a finished one only evaluated again.
train: install
	@if test -e $(RUN)/config.json; then \
		$(BIN)/seads train --resume $(RUN); \
	else \
		$(BIN)/seads train $(TRAIN_ENV) --out $(RUN); \
	fi
	$(BIN)/seads evaluate $(RUN)
	$(BIN)/seads report $(RUN) --out $(RUN)/report.html --figures $(RUN)/figures

# What the tests need of the system is installed where that is possible; see tools/system-packages.
# A third of a test's time is waiting, for an arm or a browser: three workers keep two cores busy.
test: install
	@tools/system-packages
	$(BIN)/python -m pytest --numprocesses 3 --dist worksteal

# Tests that train to a threshold, and an hour of play in a browser.
test-slow: install
	$(BIN)/python -m pytest -m slow

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# Each benchmark prints one JSON object.
bench: install
	@for name in envs learner planning robot sweep; do $(BIN)/python benchmarks/$$name.py || exit 1; done

# The site, in site/; a link that leads nowhere fails.
docs: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

# Clips of the packaged agents at work, for README and docs.
gallery: install
	$(BIN)/python tools/gallery.py docs/pictures
