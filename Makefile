# Two commands: `make demo` shows what this is, `make test` shows that it works. Both install what is missing.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
BUILD := build/release
PYTHON := .venv/bin/python
CMAKE := .venv/bin/cmake
CTEST := .venv/bin/ctest
PRESET_asan := asan-ubsan
PRESET_tsan := tsan
JOBS ?= $(shell nproc)
# How often a test that fails is run again; a test that passes then is shown as such.
RERUNS ?= 0
CTEST_REPEAT = --repeat until-pass:$(shell expr $(RERUNS) + 1)

.PHONY: help setup build everything demo unit pytest test asan tsan fuzz noservers soak nightly faults planted format lint tidy parity zoo bench bench-check quality observe docs wheel clean

help: ## what can be made
	@grep -hE '^[a-z -]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z -]+):.*## /  make \1\t/' | expand -t 20

setup:
	@tools/setup.sh

$(BUILD)/build.ninja: | setup
	@$(CMAKE) --preset release > /dev/null

build: setup $(BUILD)/build.ninja ## what a user runs: the programs and the Python extension, in build/release
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target argosy_run
	@tools/link_venv.sh $(BUILD)

everything: setup $(BUILD)/build.ninja ## the same with the library for C++ programs, the examples and all tests
	@$(CMAKE) --build $(BUILD) -j $(JOBS)
	@tools/link_venv.sh $(BUILD)

demo: build ## trains CTR-DNN on click logs that it makes, with followers, tests it, saves it and serves it
	@$(PYTHON) tools/demo.py

unit: everything ## the C++ unit tests
	@$(CTEST) --test-dir $(BUILD) --output-on-failure -j $(JOBS) --schedule-random $(CTEST_REPEAT)

pytest: everything ## the Python tests
	@tools/setup.sh requirements-ray requirements-stores
	@$(PYTHON) -m pytest -q -n $(JOBS) --reruns $(RERUNS) --rerun-show-tracebacks -r fER

test: unit pytest ## every test

asan tsan: setup ## the unit tests of the torch-free rooms under sanitizers
	@$(CMAKE) --preset $(PRESET_$@) > /dev/null
	@$(CMAKE) --build --preset $(PRESET_$@) -j $(JOBS)
	@$(CTEST) --preset $(PRESET_$@) -j $(JOBS) $(CTEST_REPEAT)

fuzz: setup ## each fuzzer for SECONDS (60), from the committed corpus
	@$(CMAKE) --preset fuzz > /dev/null
	@$(CMAKE) --build --preset fuzz -j $(JOBS)
	@tools/fuzz.sh build/fuzz $(or $(SECONDS),60)

noservers: setup ## the build without gRPC and RocksDB (ARGOSY_SERVERS=OFF), in build/no-servers, and its tests
	@ARGOSY_TEST_WHOLE_BUILDS=1 $(PYTHON) -m pytest -q tests/tooling/test_without_servers.py

soak: build ## jobs under random faults for MINUTES (10), by SEED (drawn and printed); what fails replays with EPISODE=n
	@$(PYTHON) tests/fault/soak.py --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED)) $(if $(EPISODE),--episode $(EPISODE))

nightly: setup ## all that continuous integration has no time for, in parts whose last results are kept; PART=name, PART=list, ZOO=a checkout of PaddleRec
	@tools/setup.sh requirements-ray requirements-stores
	@$(PYTHON) tools/nightly.py $(PART)

faults: build ## every fault case; results in build/faults, and an interrupted run goes on there; ONLY=part of a name, SEED=1
	@$(PYTHON) tests/fault/every_case.py --seed $(or $(SEED),1) --jobs $(JOBS) $(if $(ONLY),--only $(ONLY))

PLANTED_TARGETS := _core argosy_python_packages fleetrun argosy_server argosy_program base_test data_test table_test rpc_test ps_test engine_test
planted: setup ## the tests against each planted bug (ONLY=name); an interrupted run goes on; writes the table of docs/promises.md
	@$(CMAKE) --preset planted > /dev/null
	@$(CMAKE) --build --preset planted -j $(JOBS) --target $(PLANTED_TARGETS)
	@$(PYTHON) tests/fault/planted.py --jobs $(JOBS) $(if $(ONLY),--only $(ONLY))

format: setup ## formats the C++ sources (clang-format) and the Python sources (ruff)
	@tools/format.sh

lint: setup $(BUILD)/build.ninja ## the format of the sources, the layers of the rooms, the Python sources and their types, locks (clang), every header compiled alone
	@tools/setup.sh requirements-ray requirements-stores
	@tools/format.sh --check
	@$(PYTHON) tools/check_layers.py
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target argosy_python_packages _core_stubs
	@tools/lint_python.sh
	@$(PYTHON) tools/check_locks.py $(BUILD)
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target argosy_headers

tidy: setup ## clang-tidy over the torch-free rooms
	@$(CMAKE) --preset fuzz > /dev/null
	@$(CMAKE) --build --preset fuzz -j $(JOBS)
	@tools/lint.sh build/fuzz

parity: build ## every function and saved models against PaddlePaddle 1.8.5 and 2.6.2; writes docs/parity.md
	@tests/parity/environments.sh
	@$(PYTHON) tests/parity/run.py
	@$(PYTHON) tests/parity/dynamic.py

zoo: build ## runs the models of a checkout of PaddleRec (ZOO=folder) on their sample data; ONLY=part of a name, KIND=static, JUDGE=2.6.2's python, RESUME=1; writes docs/zoo.md
	@$(PYTHON) tests/zoo/run.py --zoo $(ZOO) $(if $(ONLY),--only $(ONLY)) $(if $(KIND),--kind $(KIND)) $(if $(JUDGE),--judge $(JUDGE)) --write docs/zoo.md $(if $(RESUME),--resume) --jobs $(JOBS)

BENCH_PROGRAMS := collective_bench server_load ctr_bench ctr_ps_bench load_bench memory_bench overhead_bench predict_load word2vec_bench data_bench parquet_bench rpc_bench table_bench ps_bench engine_bench argosy_program argosy_server fleetrun argosy_predict _core argosy_python_packages
bench: setup $(BUILD)/build.ninja ## speed and memory against their bounds and peers; ONLY="row row", ROUNDS=5; brings docs/benchmarks.md up to date
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target $(BENCH_PROGRAMS)
	@$(PYTHON) bench/run.py $(foreach row,$(ONLY),--only $(row)) --rounds $(or $(ROUNDS),5)

bench-check: setup $(BUILD)/build.ninja ## fails where a ratio fell 10 % below the one in bench/measured.json; ONLY="row row", ROUNDS=5; for an idle machine
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target $(BENCH_PROGRAMS)
	@$(PYTHON) bench/run.py --check $(foreach row,$(ONLY),--only $(row)) --rounds $(or $(ROUNDS),5)

quality: setup $(BUILD)/build.ninja ## how much CTR-DNN learns by mode, optimizer and wire format, at most 60 minutes, then goes on where it was; ONLY=adam-1x1, LINES=100000, PASSES=1; writes docs/quality.md
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target argosy_run
	@$(PYTHON) bench/quality.py $(if $(ONLY),--only $(ONLY)) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(LINES),--lines $(LINES)) $(if $(PASSES),--passes $(PASSES))

observe: build ## a job's metrics in Prometheus, its status page in Chromium (makes the pictures of docs/observe), its events in TensorBoard
	@tests/observe/environment.sh
	@$(PYTHON) -m pytest -q -p no:randomly tests/observe/check_prometheus.py tests/observe/check_tensorboard.py tests/observe/check_browser.py

docs: build ## the site of docs/ with its references, in build/site; open build/site/index.html
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --strict
	@echo 'the site: build/site/index.html'

wheel: setup ## wheels that need Python and torch alone, in dist/, and their test in an empty environment
	@$(PYTHON) tools/wheel.py
	@$(PYTHON) -m pytest -q tests/wheel/check_wheel.py

clean: ## removes the build, keeps .venv
	rm -rf build
