# Two commands are enough: `make run` and `make test`. Anything longer than a few lines stands in tools/.
PY   := .venv/bin/python
CODE := $(wildcard src tests bench tools)
FAST := $(wildcard tests/shape tests/docs tests/unit)

.DEFAULT_GOAL := help
.PHONY: help run test check format bench fuzz soak lock upgrade clean ready ready-for-tests

help: ## what can be made here
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | awk -F'|' '{ printf "  make %-8s %s\n", $$1, $$2 }'

ready:
	@tools/setup.sh run

ready-for-tests:
	@tools/setup.sh test

run: ready ## open a demo office on this machine; needs Python 3.11 or newer and nothing else
	@.venv/bin/posthouse run

test: ready-for-tests ## the whole test suite, warnings as errors, in random order; ARGS="..." goes to pytest
	@$(PY) -m pytest --durations=20 $(ARGS)

check: ready-for-tests ## format, lint, types, import rules, reference, shape, docs and the fast tests
	@echo "format";      $(PY) -m ruff format --quiet --check $(CODE)
	@echo "lint";        $(PY) -m ruff check --quiet $(CODE)
	@echo "types";       $(PY) -m mypy --no-error-summary $(CODE)
	@echo "imports";     $(PY) tools/imports.py
	@echo "reference";   $(PY) tools/reference.py --check
	@echo "conformance"; $(PY) tools/conformance.py --check
	@echo "fast tests";  $(PY) -m pytest --quiet $(FAST)

format: ready-for-tests ## put the code in the house's format, mend what ruff can mend, write the reference anew
	@$(PY) -m ruff check --quiet --fix-only $(CODE)
	@$(PY) -m ruff format --quiet $(CODE)
	@$(PY) tools/reference.py
	@$(PY) tools/conformance.py

bench: ready-for-tests ## figures beside their peers: NAME=file or figure for one of them, FULL=1 for the long run
	@$(PY) -m bench $(NAME)

fuzz: ready-for-tests ## long hunts for bad input
	@$(PY) -m pytest -m fuzz --hypothesis-profile=hunt --timeout=3600 $(ARGS)

soak: ready-for-tests ## long runs: crashes by the thousand, hours of load
	@$(PY) -m pytest -m soak --timeout=10800 $(ARGS)

lock: ## write requirements/*.lock after a change of pyproject.toml
	@tools/lock.sh

upgrade: ## the same, with the newest version of everything
	@tools/lock.sh --upgrade

clean: ## remove everything that was made here, the environment included
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist src/*.egg-info
	@find src -name '*.abi3.so' -delete
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
