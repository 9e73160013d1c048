# Two commands: `make demo` shows what this is, `make test` shows that it works. Both install what is missing.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
BUILD ?= build/release
PYTHON := .venv/bin/python
CMAKE := .venv/bin/cmake
JOBS ?= $(shell nproc)

.PHONY: help setup build test unit clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

setup:
	@tools/setup.sh

$(BUILD)/build.ninja: | setup
	@$(CMAKE) -S . -B $(BUILD) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/.venv/bin/ninja -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON) > /dev/null

build: setup $(BUILD)/build.ninja ## the core, the programs and the Python extension, in build/release
	@$(CMAKE) --build $(BUILD) -j $(JOBS)

unit: build ## the C++ unit tests
	@.venv/bin/ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) --schedule-random

test: unit ## every test

clean: ## removes the build, keeps .venv
	rm -rf build
