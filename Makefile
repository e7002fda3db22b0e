# Every target sets up what it needs: a virtual environment in .venv, made once.
PYTHON ?= python3
GAME ?= sokoban
GAMES ?= tictactoe connectfour breakthrough othello
BIN := .venv/bin

.PHONY: play test lint docs bench hostile lock clean
.DEFAULT_GOAL := play

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (make PYTHON=python3.12 ...)"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/run: .venv/bin/python pyproject.toml requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[plots,pictures,sat]'
	@$(BIN)/ggp warm || echo "going on: what is missing is compiled when it is needed"
	@touch $@

.venv/test: .venv/run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[test]'
	@touch $@

.venv/dev: .venv/test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[test,dev]'
	@touch $@

.venv/docs: .venv/run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[docs]'
	@touch $@

play: .venv/run  ## watch our player solve a game: make play GAME=hanoi
	$(BIN)/ggp play $(GAME)
	@echo
	@echo "Next, once in each shell:   . .venv/bin/activate"
	@echo "and then, for example:      ggp games; ggp play connectfour --players human,uct"

test: .venv/test  ## all tests, on all cores
	$(BIN)/python -m pytest -n auto --dist loadgroup $(TESTS)

lint: .venv/dev  ## format, lint, types, order of imports, Dockerfile
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/hadolint Dockerfile

docs: .venv/docs  ## the site of docs/, in site/; a warning is an error
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -d site/.doctrees docs site

bench: .venv/run  ## random playouts per second: make bench GAMES="hex checkers"
	$(BIN)/ggp bench $(GAMES)

hostile: .venv/test  ## 10,000 malformed rule files and HTTP bodies
	GGP_HOSTILE=10000 $(BIN)/python -m pytest tests/gdl/test_hostile.py tests/ggp/test_hostile_http.py

lock:  ## write requirements.lock anew from the newest releases
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --upgrade '.[test,dev,docs]'
	.venv-lock/bin/python -m pip freeze --exclude kaskade-ggp | grep -v '^kaskade-ggp' > requirements.lock
	rm -rf .venv-lock

clean:
	rm -rf .venv site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
