# Two commands: `make demo` shows what this is, `make test` shows that it works. Both install what is missing.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
BUILD ?= build/release
PYTHON := .venv/bin/python
CMAKE := .venv/bin/cmake
CTEST := .venv/bin/ctest
JOBS ?= $(shell nproc)

.PHONY: help setup build unit pytest test clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

setup:
	@tools/setup.sh

$(BUILD)/build.ninja: | setup
	@$(CMAKE) -S . -B $(BUILD) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/.venv/bin/ninja -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON) > /dev/null

build: setup $(BUILD)/build.ninja ## the core, the programs and the Python extension, in build/release
	@$(CMAKE) --build $(BUILD) -j $(JOBS)

unit: build ## the C++ unit tests
	@$(CTEST) --test-dir $(BUILD) --output-on-failure -j $(JOBS) --schedule-random

pytest: build ## the Python tests
	@$(PYTHON) -m pytest -q -n $(JOBS)

test: unit pytest ## every test

clean: ## removes the build, keeps .venv
	rm -rf build
