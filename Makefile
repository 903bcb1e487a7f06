# Think in Tiles. `make` prints the targets; each of them needs nothing before it.
# The first one to run creates .venv and installs requirements.txt there.
# `make test PYTHON=python3` uses the environment that is already active, and installs nothing.

.DEFAULT_GOAL := help
.PHONY: help lab grade doctor book pdf run notebooks test lint bench dist clean environment
.DELETE_ON_ERROR:

JOBS ?= 2

ifdef PYTHON
python := $(PYTHON)
ready  := environment
else
python := .venv/bin/python
ready  := .venv/.stamp
endif

help: ## Print the targets
	@awk -F ':.*## ' '/^#: /{ print "\n" substr($$0, 4) } /^[a-z]+:.*## /{ printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nOptions\n  PYTHON=python3           use the active environment instead of .venv\n  LESSON=05_online_softmax one lesson, for grade, run, bench, dist\n  SOLUTIONS=0              for book: the class edition, without solutions\n  LITE=local               for book: Python for the browser in the book, no network; LITE=0: without it\n  FORCE=1                  for notebooks: overwrite a changed copy\n  COMPARE=1                for bench: fail where a ratio to a peer has fallen by more than 10 %%\n  JOBS=2                   for test: how many processes\n\n'

#: To learn
lab: $(ready) ## Open JupyterLab in notebooks/
	$(python) -m jupyterlab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/notebooks $(if $(filter 0,$(shell id -u)),--allow-root)

grade: $(ready) ## Grade your notebooks (LESSON=… for one)
	@$(python) -m pytest -q --no-header --nbval $(if $(LESSON),notebooks/$(LESSON).ipynb,notebooks) || [ $$? -eq 1 ]

doctor: $(ready) ## What works on this machine, and which lessons run
	@$(python) -m tiles doctor

#: To teach and to write
book: $(ready) ## Build the HTML book (SOLUTIONS=0: the class edition)
	@$(python) -m classroom.book $(if $(filter 0,$(SOLUTIONS)),--class-edition) $(if $(LITE),--lite $(LITE))

pdf: $(ready) ## Print the book, without solutions, as _build/think-in-tiles.pdf (needs Chromium)
	@$(python) -m classroom.pdf

run: $(ready) ## Execute solutions/ in place and store the outputs
	$(python) -m classroom run $(LESSON)

notebooks: $(ready) ## Derive notebooks/ from solutions/
	$(python) -m classroom notebooks $(if $(FORCE),--force)

test: $(ready) ## Unit tests, then every solution, then every wrong answer
	$(python) -m pytest tests --ignore tests/test_answers.py -n $(shell expr $(JOBS) + 1) --dist loadfile  # some wait for what they started
	$(python) -m pytest --nbval solutions -n $(JOBS)
	$(python) -m pytest tests/test_answers.py -n $(JOBS) --dist loadgroup --no-loadscope-reorder

lint: $(ready) ## Style, and whether notebooks/ is in step with solutions/
	$(python) -m ruff check .
	$(python) -m ruff format --check .
	$(python) -m classroom notebooks --check

bench: $(ready) ## Measure on a GPU and record it in tiles/recorded/ (COMPARE=1: compare with that)
ifdef COMPARE
	rm -rf _build/bench
	-$(python) -m classroom.bench $(LESSON) --out _build/bench
	$(python) -m classroom.bench $(LESSON) --compare tiles/recorded _build/bench
else
	$(python) -m classroom.bench $(LESSON)
endif

dist: $(ready) ## Pack the student edition and the instructor edition into dist/
	@$(python) -m classroom.dist $(LESSON)

clean: ## Remove what was built (.venv stays)
	rm -rf _build dist .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

.venv/.stamp: requirements.txt pyproject.toml
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Think in Tiles needs Python 3.10 or newer; python3 is " + sys.version)'
	@python3 -m venv .venv || python3 -m virtualenv .venv || { echo 'python3 cannot create an environment: install python3-venv, or give one that is active: make PYTHON=python3 …' >&2; exit 1; }
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --root-user-action=ignore -r requirements.txt
	@touch $@

# With PYTHON=…: names what the active environment lacks, before anything starts.
modules := torch triton numpy matplotlib jupyterlab ipykernel nbformat nbclient nbval pytest xdist jupyter_book mathjax py_mini_racer playwright axe_playwright_python ruff
environment:
	@$(PYTHON) -c 'import importlib.util as i, importlib.metadata as m, sys; \
	missing = [n for n in "$(modules)".split() if not i.find_spec(n) and (n != "triton" or sys.platform == "linux")]; \
	missing += [] if any(d.metadata["Name"] == "think-in-tiles" for d in m.distributions()) else ["think-in-tiles itself"]; \
	sys.exit("%s lacks: %s\n  $(PYTHON) -m pip install -r requirements.txt" % (sys.executable, ", ".join(missing)) if missing else 0)'
