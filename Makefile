# Every target sets up what it needs: a virtual environment in .venv, made once.
PYTHON ?= python3
GAME ?= sokoban
GAMES ?= tictactoe connectfour breakthrough othello
SLOW ?= none
BIN := .venv/bin
# Python compiles what is imported, and pip would compile the rest too.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
COMPILE := CUSTOM_COMPILE_COMMAND="make lock" .venv-lock/bin/pip-compile --quiet --upgrade --generate-hashes \
	--allow-unsafe --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

.PHONY: play test test-all lint docs bench hostile audit sbom lock clean
.DEFAULT_GOAL := play

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (make PYTHON=python3.12 ...)"; exit 1; }
	$(PYTHON) -m venv .venv

# Only files whose checksums are locked are installed; what builds the project is locked, too. Kernels need these
# packages alone: with them there, what the first game needs is compiled while the others come.
COMPILERS := llvmlite|markdown-it-py|mdurl|numba|numpy|orjson|platformdirs|pygments|pyparsing|rich|zstandard
FIRST_PARTS := evaluate sokoban-searches states root sokoban-rooms sokoban-optimizer

.venv/run: .venv/bin/python pyproject.toml hatch_build.py requirements-build.lock requirements-play.lock
	@awk '/^[^ #]/ { wanted = /^($(COMPILERS))==/ } wanted' requirements-play.lock > .venv/compilers.lock
	$(PIP) --require-hashes --no-deps -r .venv/compilers.lock
	@echo "Installing the other packages, and compiling what the first game needs: half a minute on two free cores"
	@for each in 1 2; do $(BIN)/python -m ggp.warm parts $(FIRST_PARTS) > .venv/first-$$each.log 2>&1 & done; \
	$(PIP) --require-hashes --no-deps -r requirements-build.lock -r requirements-play.lock \
	&& $(PIP) --no-deps --no-build-isolation -e . ; status=$$?; wait; exit $$status
	@touch $@

# Kernels are compiled once, before several processes test.
.venv/dev: .venv/run requirements-dev.lock
	$(PIP) --require-hashes -r requirements-dev.lock
	@$(BIN)/ggp warm || echo "going on: what is missing is compiled when it is needed"
	@touch $@

.venv/audit: .venv/run requirements-audit.lock
	$(PIP) --require-hashes -r requirements-audit.lock
	@touch $@

play: .venv/run  ## watch our player solve a game: make play GAME=hanoi
	$(BIN)/ggp play $(GAME)
	@nice -n 19 $(BIN)/ggp warm < /dev/null > .venv/warm.log 2>&1 &
	@echo
	@echo "The rest is compiled in the background for a minute or two: .venv/warm.log. You can play meanwhile."
	@echo "Next, once in each shell:   . .venv/bin/activate"
	@echo "and then, for example:      ggp games; ggp play connectfour --players human,uct"

test: .venv/dev  ## the tests but the slow ones, on all cores: make test TESTS=tests/gdl SLOW=all
	$(BIN)/python -m pytest -n $(if $(TESTS),0,auto) --slow $(SLOW) $(TESTS)

test-all: .venv/dev  ## all tests, on all cores
	$(BIN)/python -m pytest -n auto --slow all

lint: .venv/dev  ## format, lint, types, order of imports, Dockerfile
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/hadolint Dockerfile
	$(BIN)/yamllint --strict -d "{extends: default, rules: {line-length: {max: 110}}}" docs/cluster

docs: .venv/dev  ## the site of docs/, in site/; a warning is an error
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -d site/.doctrees docs site

bench: .venv/run  ## random playouts per second: make bench GAMES="hex checkers"
	$(BIN)/ggp bench $(GAMES)

hostile: .venv/dev  ## 10,000 malformed rule files and HTTP bodies
	GGP_HOSTILE=10000 $(BIN)/python -m pytest tests/gdl/test_hostile.py tests/ggp/test_hostile_http.py

audit: .venv/audit  ## known vulnerabilities of what is locked; skipped where no database can be reached
	$(BIN)/python .ci/audit.py requirements.lock requirements-build.lock requirements-dev.lock requirements-audit.lock

sbom: .venv/audit  ## what a run-time installation consists of: dist/sbom.json (CycloneDX)
	@mkdir -p dist
	$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible -o dist/sbom.json requirements.lock

lock:  ## write the lock files anew from the newest releases: run-time, development, audit, build
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --upgrade pip-tools
	$(COMPILE) -o requirements.lock pyproject.toml
	$(COMPILE) -c requirements.lock --extra cluster -o requirements-cluster.lock pyproject.toml
	$(COMPILE) -c requirements.lock --extra test --extra dev --extra docs -o requirements-dev.lock pyproject.toml
	$(COMPILE) -c requirements-dev.lock -o requirements-play.lock pyproject.toml
	$(COMPILE) -c requirements-dev.lock --extra audit -o requirements-audit.lock pyproject.toml
	$(COMPILE) -c requirements-dev.lock --only-build-deps --build-deps-for editable -o requirements-build.lock pyproject.toml
	rm -rf .venv-lock

clean:
	rm -rf .venv site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
