# The front door. Every target sets up what it needs in .venv by itself.
.DEFAULT_GOAL := help
.PHONY: help setup demo test record golden math-check portability browser-test lint format native-test asan-test fuzz \
  reliability bench cost-model reproduce figures docs-output docs sdist checksums linkcheck screenshots clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
NATIVE_SOURCES := $(shell find core/include core/src bindings CMakeLists.txt -type f 2>/dev/null)
DOCTEST_HEADER := /usr/include/doctest/doctest.h
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# What builds the package, and nothing else.
$(VENV)/.build: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) "scikit-build-core>=1.1" "nanobind>=3.1" "cmake>=3.25" ninja
	touch $@

$(VENV)/.tools: $(VENV)/.build
	$(PIP) --group dev
	touch $@

# Build isolation is off so that the object files of the last build are used again.
$(VENV)/.installed: $(VENV)/.build $(NATIVE_SOURCES)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --no-build-isolation --editable .
	touch $@

# Compiled here, because where Python may not write what it compiled, every start would do it again.
setup: $(VENV)/.tools $(VENV)/.installed  ## make .venv with the package and its tools
	@$(BIN)/python -m compileall -q src

demo: $(VENV)/.installed  ## find 30 planted features among 10^12 in 4 KiB and write demo/report.html
	$(BIN)/bearsketch demo --out demo

test: setup  ## run the test suite
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

record: setup  ## record anew what commands print (tests/text); read the difference before you commit
	$(BIN)/python -m tests.text $(CASES)

REASON ?=
golden: setup  ## say which rows of the golden table changed; REASON="..." records them
	$(BIN)/python -m tests.golden.record $(if $(REASON),--reason "$(REASON)")

ARGUMENTS ?= 1000000
math-check: setup  ## exp, log and log1p at ARGUMENTS numbers of every range beside exact values
	PYTHONPATH=tests $(BIN)/python tests/reference/exact_math.py $(ARGUMENTS)

browser-test: setup  ## the report page in a real browser (Debian's chromium)
	tools/need-debian chromium chromium
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group browser
	$(BIN)/python -m pytest tests/report

lint: setup  ## ruff, mypy, clang-format, import contracts, phrases, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/phrases.py
	$(BIN)/codespell src core bindings tests experiments benchmarks reliability docs/*.md docs/how-to docs/explanation examples tools *.md
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files '*.hpp' '*.cpp')

format: setup  ## put Python and C++ sources into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files '*.hpp' '*.cpp')

PRESETS ?= default sanitize
native-test: $(VENV)/.tools  ## C++ tests, plain and under sanitizers; PRESETS=thread for that of threads
	tools/need-debian $(DOCTEST_HEADER) doctest-dev
	for preset in $(PRESETS); do \
	  PATH="$(CURDIR)/$(BIN):$$PATH"; \
	  cmake --preset $$preset >/dev/null && cmake --build --preset $$preset -j $(JOBS) && \
	  ctest --preset $$preset || exit 1; \
	done

# A Python that finds the tools of .venv, but the package only as it is built here.
ASAN := build/asan
ASAN_SITE = $(ASAN)/venv/lib/python$(shell $(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')/site-packages
ASAN_TESTS ?= tests
asan-test: setup  ## the Python tests once, the compiled part under address and undefined-behaviour sanitizers
	$(BIN)/python -m venv --without-pip $(ASAN)/venv
	echo "$(CURDIR)/$(subst $(ASAN)/venv,$(VENV),$(ASAN_SITE))" > $(ASAN_SITE)/tools.pth
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --no-build-isolation --no-deps --upgrade --target $(ASAN_SITE) -C build-dir=$(ASAN)/build \
	  -C cmake.define.BEAR_SANITIZE=ON -C cmake.build-type=RelWithDebInfo -C install.strip=false .
	sed '1s|.*|#!$(CURDIR)/$(ASAN)/venv/bin/python|' $(ASAN_SITE)/bin/bearsketch > $(ASAN)/venv/bin/bearsketch
	chmod +x $(ASAN)/venv/bin/bearsketch
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so):$$(gcc -print-file-name=libubsan.so):$$(gcc -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	  $(ASAN)/venv/bin/python -m pytest -m "not unsanitized" -o timeout=1500 --tb=native $(ASAN_TESTS)

SECONDS ?= 30
RUNS ?=
FUZZ_TARGETS ?= vw svmlight fasta fastq text jsonl csv chunks fast_vs_plain roundtrip learner train_small
fuzz: $(VENV)/.tools  ## run each fuzz target for SECONDS, or for RUNS executions; finds are in build/fuzz/found
	tools/need-debian clang++-14 clang-14 libclang-rt-14-dev
	PATH="$(CURDIR)/$(BIN):$$PATH"; cmake --preset fuzz >/dev/null && cmake --build --preset fuzz -j $(JOBS)
	mkdir -p build/fuzz/found
	for target in $(FUZZ_TARGETS); do \
	  mkdir -p build/fuzz/corpus/$$target; \
	  ASAN_OPTIONS=malloc_context_size=0:quarantine_size_mb=8 build/fuzz/fuzz/fuzz_$$target \
	    $(if $(RUNS),-runs=$(RUNS),-max_total_time=$(SECONDS)) -timeout=120 -max_len=200 -entropic=0 \
	    -print_final_stats=1 -verbosity=0 -artifact_prefix=build/fuzz/found/$$target- \
	    build/fuzz/corpus/$$target tests/corpus/$$target || exit 1; \
	done

BUDGET ?= 1800
PARTS ?=
reliability: setup  ## kills, faults, peaks of memory and fuzzing for BUDGET seconds; docs/explanation/reliability.md
	tools/need-debian strace strace
	tools/need-debian clang++-14 clang-14 libclang-rt-14-dev
	PATH="$(CURDIR)/$(BIN):$$PATH"; cmake --preset fuzz >/dev/null && cmake --build --preset fuzz -j $(JOBS)
	nice -n 15 $(BIN)/python -m reliability.run --budget $(BUDGET) $(if $(PARTS),--parts $(PARTS))

bench: setup  ## speed and memory beside scikit-learn, Vowpal Wabbit and River, as ratios in one run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	$(BIN)/python -m benchmarks.run --out docs/figures/speed.json --page docs/explanation/speed.md $(BENCH)

cost-model: setup  ## how learning time grows with each number; draws docs/figures/cost-model.png
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	$(BIN)/python -m benchmarks.cost_model measure --repeats 7
	$(BIN)/python -m benchmarks.cost_model draw >/dev/null

FIGURE ?= all
REPRODUCE ?=
reproduce: setup  ## the paper's simulations: FIGURE=fig1a, or one on real data with REPRODUCE="--data DIR"
	$(BIN)/python -m experiments reproduce $(FIGURE) --workers $(JOBS) $(REPRODUCE)

figures: setup  ## draw the figures of measured tables and write their numbers into README and docs
	$(PIP) --group docs
	$(BIN)/python tools/draw_figures.py
	$(BIN)/python tools/fill_numbers.py

docs-output: setup  ## run the shell blocks of README and tutorial and write their output into the pages
	$(BIN)/python tools/shown_output.py

docs: setup  ## run the examples and build the documentation into docs/_build
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build

portability: $(VENV)/.tools  ## build and test the core for every platform that can be had here
	tools/need-debian /usr/include/doctest/doctest.h doctest-dev
	tools/need-debian clang++-14 clang-14
	tools/need-debian /usr/lib/llvm-14/include/c++/v1/vector libc++-14-dev libc++abi-14-dev
	tools/need-debian aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
	tools/need-debian qemu-aarch64 qemu-user
	tools/need-debian x86_64-w64-mingw32-g++-posix g++-mingw-w64-x86-64-posix
	tools/need-debian wine wine wine64
	tools/need-debian emcc emscripten
	tools/need-debian /usr/share/nodejs/acorn node-acorn
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ziglang
	$(BIN)/python tools/portability.py

sdist: $(VENV)/.tools  ## the source distribution, in dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m build --no-isolation --sdist --outdir dist

checksums:  ## SHA256SUMS and the list of contents (SBOM) of what is in dist
	$(PYTHON) tools/release_contents.py dist

linkcheck: setup  ## try every link of the documentation
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	$(BIN)/python -m sphinx -b linkcheck -q docs docs/_build/linkcheck

screenshots: setup  ## take the pictures of the report and the terminal again
	tools/need-debian chromium chromium
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group browser
	$(BIN)/python tools/screenshots.py

clean:  ## remove what the targets made
	rm -rf $(VENV) build demo docs/_build docs/examples
