# Every target sets up what it needs in .venv by itself; it needs Python 3.11+ and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test nightly coverage wheel releases lint types unit fuzz bench bench-mdav bench-univariate bench-pcl bench-scale exactness papers optimality docs pictures clean bench-stream bench-large bench-bounds bounds-safety bench-start bench-wide bench-persons bench-models bench-attacks bench-peers-risk bench-assess bench-downstream records rivals regrets kills public mixed muant bench-compare locations-steps locations-kills bench-locations bench-cluster cluster-kills

help:
	@echo "make demo   anonymize the built-in example; says where the release and the report are"
	@echo "make test   lint, types, tests"
	@echo "make nightly  the tests with other random examples every time, more of them; prints how to repeat a failure"
	@echo "make coverage  the tests once more, with the lines that none of them reaches; fails below 90 %"
	@echo "make wheel  build dist/shoal-*.whl with machine code, some minutes; install it into an empty environment and make a first release with it"
	@echo "make bench-start  first and later releases of a wheel built from here and of that of BEFORE, a folder; a table of the docs"
	@echo "make releases  record the releases of some two hundred tables, or compare: BEFORE=before.json make releases"
	@echo "make kills  kill, starve and crowd 200 runs at random, a quarter of an hour; CASES and SEED say how many and which"
	@echo "make cluster-kills  kill workers, scheduler and client of a Dask cluster at random, a quarter of an hour; CASES and SEED"
	@echo "make fuzz   5000 odd files, each released right or refused, some minutes; FUZZ=20000 SEED=7 make fuzz for others"
	@echo "make bench  measure, the short form: start-up time, MDAV on 20 000 records"
	@echo "make bench-mdav  the whole table of MDAV, about ten minutes; writes benchmarks/mdav.md"
	@echo "make bench-univariate  optimal groups of 1 000 000 values at several k, two minutes"
	@echo "make exactness   four methods against brute force on 60 000 records"
	@echo "make papers      all published tables rerun, some minutes; writes docs/reproduction.md"
	@echo "make bench-pcl   PCL against its papers, some minutes; writes tables of the docs"
	@echo "make bench-scale  PCA and proximal-distal around two MDAVs, a quarter of an hour; writes tables of the docs"
	@echo "make bench-large  blocks, exchanges and auto on up to ten million records, an hour; writes tables of the docs"
	@echo "make bench-stream  3 GB within 1 GB of memory, killed and resumed, half an hour; writes a table of the docs"
	@echo "make bench-cluster  several workers on one table: the same bytes, time, memory and loss; a quarter of an hour"
	@echo "make bench-wide  tables with more attributes than records, two minutes"
	@echo "make bench-persons  persons of several rows, strata, sampling weights and larger k: time and loss, ten minutes"
	@echo "make bench-assess  every figure about a million records and their release: seconds and memory; some minutes"
	@echo "make bench-downstream  models trained on releases of Adult, tested on originals; half an hour"
	@echo "make bench-models  privacy models: losses beside published algorithms, Adult, a million records, attacks; half an hour"
	@echo "make bench-attacks  linkage, singling out, linkability and inference on Census and Adult for growing k"
	@echo "make bench-peers-risk  figures of risk beside those of anonymeter and sdcMicro"
	@echo "make bench-compare  shoal compare on Census, Adult and up to 100 000 records, a quarter of an hour; writes tables of the docs"
	@echo "make locations-steps  200 000 random steps of the location service, all promises checked after each; an hour"
	@echo "make locations-kills  kill the location service and its worker 200 times, on SQLite and on PostgreSQL"
	@echo "make bench-locations  the location service: paper, places, history, attacks, load; an hour; writes tables of the docs"
	@echo "make bench-bounds  lower bounds of the standard data, two hours; needs SHARED, the folder of the data"
	@echo "make bounds-safety  lower bounds against brute force on 2000 random tables and Optimal on 200, half an hour"
	@echo "make records     Refined against the lowest losses known, over an hour; writes a table of the docs"
	@echo "make rivals      methods and other tools side by side, a quarter of an hour; writes a table of the docs"
	@echo "make regrets     auto against all other methods given the same time, 52 tables, an hour; REGRETS is the file it resumes; writes tables of the docs"
	@echo "make mixed       tables of many kinds: Adult, a million records, many categories, places; a quarter of an hour"
	@echo "make muant       the mixed example of another tool, some minutes; needs SHOAL_MUANT, the folder of its files"
	@echo "make public      public tables as inspect suggests, some minutes; needs SHOAL_PUBLIC, the folder of the tables"
	@echo "make optimality  methods against the optimum of small tables; writes tables of the docs"
	@echo "make docs   build the documentation site into site/"
	@echo "make pictures    draw the pictures of the docs anew"

demo: $(VENV)/.run
	$(BIN)/shoal demo --folder demo --overwrite

test: lint types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

unit: $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

# Kernels are compiled first, and not under coverage, which looks at every call of the compiler.
COMPILED := tests/kernels tests/papers
coverage: $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile $(COMPILED)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile $(COMPILED:%=--ignore %) --cov --cov-report=term

nightly: $(VENV)/.dev
	SHOAL_HYPOTHESIS=nightly $(BIN)/python -m pytest --numprocesses 2 --dist loadfile

wheel: $(VENV)/.dev
	rm -rf dist
	SHOAL_MACHINE_CODE=1 $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(BIN)/python benchmarks/newcomer.py dist

bench-start: $(VENV)/.dev
	$(BIN)/python benchmarks/newcomer.py $(if $(BEFORE),before=$(BEFORE)) after=dist

releases: $(VENV)/.dev
	$(BIN)/python benchmarks/releases.py $(if $(BEFORE),compare $(BEFORE),record releases.json)

CASES ?= 200
kills: $(VENV)/.dev
	$(BIN)/python tests/kills/target.py --cases $(CASES) $(if $(SEED),--seed $(SEED))

cluster-kills: $(VENV)/.dev
	$(BIN)/python tests/kills/cluster.py --cases $(CASES) $(if $(SEED),--seed $(SEED))

fuzz: $(VENV)/.dev
	$(BIN)/python tests/fuzz/run.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/mdav.py short

bench-mdav: $(VENV)/.dev
	NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/mdav.py

bench-univariate: $(VENV)/.dev
	NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/univariate.py

exactness: $(VENV)/.dev
	$(BIN)/python benchmarks/exactness.py

bench-pcl: $(VENV)/.dev
	$(BIN)/python benchmarks/pcl.py

bench-scale: $(VENV)/.dev
	$(BIN)/python benchmarks/scale.py
bench-large: $(VENV)/.dev
	$(BIN)/python benchmarks/large_tables.py

bench-stream: $(VENV)/.dev
	$(BIN)/python benchmarks/stream.py

bench-cluster: $(VENV)/.dev
	$(BIN)/python benchmarks/cluster.py

bench-wide: $(VENV)/.dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/wide.py

bench-persons: $(VENV)/.dev
	$(BIN)/python benchmarks/persons.py

bench-assess: $(VENV)/.dev
	$(BIN)/python benchmarks/assess.py

bench-downstream: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/downstream.py

bench-models: $(VENV)/.dev
	$(BIN)/python benchmarks/models.py
	$(BIN)/python benchmarks/constrained_optimum.py

bench-attacks: $(VENV)/.dev
	$(BIN)/python benchmarks/attacks.py

bench-peers-risk: $(VENV)/.dev
	$(BIN)/python benchmarks/peers_risk.py

bench-compare: $(VENV)/.dev
	$(BIN)/python benchmarks/compare.py

STEPS ?= 200000
locations-steps: $(VENV)/.dev
	SHOAL_LOCATIONS_STEPS=$(STEPS) $(BIN)/python -m pytest -q -s tests/locations/test_machine.py

locations-kills: $(VENV)/.dev
	$(BIN)/python tests/locations/kills.py --cases $(CASES) --database sqlite
	$(BIN)/python tests/locations/kills.py --cases $(CASES) --database postgresql

bench-locations: $(VENV)/.dev
	$(BIN)/python benchmarks/locations_homes.py
	$(BIN)/python benchmarks/locations_points.py
	$(BIN)/python benchmarks/locations_history.py
	$(BIN)/python benchmarks/locations_attacks.py
	$(BIN)/python benchmarks/locations_load.py

SHARED ?= ../shared
bench-bounds: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/bounds.py $(SHARED)
bounds-safety: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/bounds_safety.py
records: $(VENV)/.dev
	$(BIN)/python benchmarks/records.py
rivals: $(VENV)/.dev
	$(BIN)/python benchmarks/rivals.py

REGRETS ?= regrets.jsonl
regrets: $(VENV)/.dev
	$(BIN)/python benchmarks/regrets.py $(REGRETS)
	$(BIN)/python benchmarks/regrets.py $(REGRETS) tables
	$(BIN)/python benchmarks/regrets.py cliffs

mixed: $(VENV)/.dev
	$(BIN)/python benchmarks/mixed.py
muant: $(VENV)/.dev
	$(BIN)/python benchmarks/muant.py
public: $(VENV)/.dev
	$(BIN)/python benchmarks/public_tables.py

papers: $(VENV)/.dev
	$(BIN)/python benchmarks/reproduce.py

optimality: $(VENV)/.dev
	$(BIN)/python benchmarks/optimality.py
	$(BIN)/python benchmarks/optimality.py times

pictures: $(VENV)/.dev
	$(BIN)/python docs/pictures/draw.py

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Shoal needs Python 3.11 or later; say which with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.run

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[docs]'
	@touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) demo site .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
