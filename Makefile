# Two commands are enough: `make run` starts oi-tui, `make test` runs the tests.
# Each makes its own .venv first, once; `make PYTHON=python3.13 run` chooses the interpreter.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What to give the program, as in: make run ARGS="--demo"
ARGS ?=

.PHONY: run dev console test test-twice test-quick snapshots images terminals bench docs reference lock lint types check format wheel clean

run: $(VENV)/.installed
	@$(BIN)/oi-tui $(ARGS)

# Start oi-tui so that `make console`, in a second terminal, shows its log, its events and what it prints.
dev: $(VENV)/.installed-dev
	@TEXTUAL=devtools $(BIN)/oi-tui $(ARGS)

console: $(VENV)/.installed-dev
	@$(BIN)/textual console $(ARGS)

test: $(VENV)/.installed-dev
	$(BIN)/pytest $(ARGS)

# All tests, and once more, one after the other, those that failed.
test-twice: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.twice $(ARGS)

# What takes a minute, on any machine: the tests of the engine and of the project, and a few of the screens.
QUICK := credentials engine input llm models output project reply review runtimes settings storage terminal
test-quick: $(VENV)/.installed-dev
	$(BIN)/pytest -m "not slow" $(addprefix tests/unit/,$(QUICK)) \
	  tests/pilot/prompt/test_prompt.py tests/pilot/prompt/test_titles.py $(ARGS)

# Accept the screens as they look now; look at the changed images before you commit them.
snapshots: $(VENV)/.installed-dev
	$(BIN)/pytest tests/snapshots --snapshot-update $(ARGS)
	UPDATE_README=1 $(BIN)/pytest -n 0 tests/unit/project/test_readme.py

# Copy the images of the documentation from the snapshots, and record a session with the demo model;
# `asciinema play build/demo.cast` shows it.
images: $(VENV)/.installed-dev
	UPDATE_README=1 $(BIN)/pytest -n 0 -q tests/unit/project/test_readme.py -k image
	@mkdir -p build
	$(BIN)/python -m tests.record_demo build/demo.cast

# Try the program in the terminal programs of this machine, and write what worked into the documentation.
terminals: $(VENV)/.installed-dev
	$(BIN)/python -m tests.real_terminals $(ARGS)

# Run the benchmarks, with other programs beside oi-tui, and write docs/benchmarks.md. This takes half an hour.
# ARGS="peer_start" measures only that.
bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks.page $(ARGS)

# Write the reference pages, and the website into build/site.
docs: reference
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

reference: $(VENV)/.installed-dev
	$(BIN)/python -m tests.reference_pages

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.installed-dev
	$(BIN)/mypy

check: lint types test

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

wheel: $(VENV)/.installed-dev
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

# Every dependency with its hashes, for those who install exactly one set; needs uv.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --no-annotate --upgrade --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "oi-tui needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) -V 2>&1)." >&2; \
	  echo "Name a newer one: make PYTHON=python3.12" >&2; exit 1; }
	@echo "Setting up $(VENV), once; this takes about a minute."
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "$(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv" >&2; \
	  rm -rf $(VENV); exit 1; }

# The marks are written by the shell itself, so that nothing but git, make and Python has to be on PATH.
# The development set-up holds everything that the plain one does.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@: >$@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@install() { $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable "$$1"; }; \
	install '.[dev,dev-tables]' || { \
	  echo "The packages of dev-tables cannot be installed: the tests that need them are skipped." \
	    "To try again, delete $@." >&2; \
	  install '.[dev]'; }
	@: >$(VENV)/.installed && : >$@
