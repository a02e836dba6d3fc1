# Everything here needs python3 (3.11 or later), make, and a package registry that pip can reach.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test types browser-test lint format bench paper docs examples site pictures clean

help:
	@echo "make demo    install, and recover a density with two branches"
	@echo "make test    run the tests"
	@echo "make types   run those of the laws with their shapes checked"
	@echo "make browser-test  look at the HTML report in Chromium, which is installed if need be"
	@echo "make docs    run the examples of the documentation, and build it as a site"
	@echo "make pictures  draw what the pages show"
	@echo "make lint    check style and types"
	@echo "make format  put the code into its style"
	@echo "make bench   measure every method against PyTorch"
	@echo "make paper   reproduce the paper's tables and figures"

demo: .venv/.installed
	$(BIN)/dgme demo

# Neighbours stay on one worker, which has set up and compiled what they share.
test: .venv/.dev
	$(BIN)/python -m pytest -q -n auto --dist worksteal

# With shapes checked in the laws as well, where that is slow.
types: .venv/.dev
	$(BIN)/python -m pytest -q -n auto --jaxtyping-packages=dgme,beartype.beartype tests/distributions

# A test that finds no browser is skipped; here one is there.
browser-test: .venv/.dev
	@which chromium chromium-browser google-chrome | grep -q . || { \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
		$$sudo apt-get update && $$sudo apt-get install -y --no-install-recommends chromium; }
	$(BIN)/python -m pytest -q tests/report/test_browser.py

docs: examples site

# What the pages and the docstrings show. `make test` runs it too.
examples: .venv/.dev
	$(BIN)/python -m pytest -q -n auto --dist worksteal tests/test_docs.py src

# A warning is an error, and so is a reference that leads nowhere.
site: .venv/.docs
	$(BIN)/python -m sphinx -E -W --keep-going -q docs build/site
	@echo "open build/site/index.html"

# The figures that the pages show, each from the code above it.
pictures: .venv/.dev
	$(BIN)/python -m docs.examples

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.bench
	$(BIN)/python -m benchmarks

paper: .venv/.paper
	$(BIN)/dgme paper

clean:
	rm -rf .venv build dgme-demo dgme-paper

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dgme needs Python 3.11 or later")'
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/.dev: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# The site is made from the whole library, so it needs all that development needs; at once is faster.
.venv/.docs: pyproject.toml .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs]'
	touch .venv/.installed .venv/.dev $@

.venv/.bench: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@

.venv/.paper: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable '.[paper]'
	touch $@
