# A thin front to meson: on a bare Debian 12 machine `make demo` and `make test` do everything.
BUILD ?= build
# Builds in other checkouts find the same objects in the compiler's cache.
export CCACHE_BASEDIR = $(CURDIR)
export CCACHE_NOHASHDIR = 1
# A graph file for the demo, and options of convert behind it; a Kronecker graph is made when none is named.
GRAPH ?=
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.h' '*.cpp')

# Where `make install` installs; DESTDIR stands before it, for packages.
PREFIX ?= /usr/local
DESTDIR ?=

# Sets up the build folder. One that `make demo` has set up looks for all packages again.
set_up = { test -f $(BUILD)/build.ninja || meson setup $(BUILD) $$(tools/build-options) $(1); } && \
	{ test ! -e $(BUILD)/for-demo || { meson configure --clearcache $(BUILD) && meson setup --reconfigure $(BUILD) && rm $(BUILD)/for-demo; }; }

.PHONY: help build install uninstall demo test test-all python-test wheel build-bench bench bench-peers bench-links bench-cachegrind format lint install-packages clean

help:
	@echo 'make demo [GRAPH=FILE]            builds the program, and shows it on a graph that it makes, or on yours'
	@echo 'make build                        builds the program, the library and the examples in BUILD=build'
	@echo 'make install [PREFIX=/usr/local]  installs them: as root, or with PREFIX=$$HOME/.local; make uninstall removes them'
	@echo 'make test                         builds and runs the tests (docs/testing.md)'
	@echo 'make test-all [ONLY=rdma,tsan]    runs all tests, for hours, or some pieces of them'
	@echo 'make python-test                  builds the package for Python and runs its tests; pip install . installs it'
	@echo 'make wheel                        makes a wheel of it that needs no packages of the system'
	@echo 'make bench [OPTIONS="..."]        measures; bench-peers compares with other programs (perf/README.md)'
	@echo 'make format, make lint            format the sources, and look for mistakes in them'
	@echo 'make clean                        removes BUILD=build'

build:
	tools/install-packages --build
	@$(call set_up,-Dtests=false)
	ninja -C $(BUILD)

# Root does not build in the folder of another user, who could not write there afterwards.
install:
	@[ "$$(stat -c %u $(BUILD) 2>/dev/null || stat -c %u .)" != "$$(id -u)" ] || $(MAKE) --no-print-directory build
	@tools/install "$(BUILD)" "$(PREFIX)" "$(DESTDIR)"

uninstall:
	@tools/install --uninstall "$(PREFIX)" "$(DESTDIR)"

# The program only, without RDMA, DPDK and launchers where their packages are not there.
demo: export GRAPH := $(GRAPH)
demo:
	@tools/install-packages --demo
	@test -f $(BUILD)/build.ninja || { meson setup $(BUILD) $$(tools/build-options) -Dtests=false && touch $(BUILD)/for-demo; }
	@test -e $(BUILD)/edgewire || echo "demo: compiles the program: about $$((270 / $$(nproc) + 5)) s on $$(nproc) cores"
	@ninja -C $(BUILD) edgewire
	@tools/demo $(BUILD)/edgewire "$$GRAPH"

test:
	tools/install-packages --test
	@$(call set_up)
	test -e $(BUILD)/tests || meson configure $(BUILD) -Dtests=true
	ninja -C $(BUILD)
	tests/run.py --build $(BUILD)

# ONLY=rdma,tsan runs these pieces: see docs/testing.md.
test-all:
	tools/test-all $(ONLY)

# The package for Python: builds it, and runs its tests with the packages that they need, in an environment of their own.
python-test:
	tools/install-packages --test
	tools/python-test

# The package for Python as a file that needs no packages of the system: dist/.
wheel:
	tools/install-packages --test
	tools/wheel

build-bench:
	tools/install-packages --test
	@$(call set_up)
	meson configure $(BUILD) -Dbench=true
	ninja -C $(BUILD)

# OPTIONS goes to perf/bench/runs.py or perf/peers/compare.py: see perf/README.md.
bench: build-bench
	tools/bench $(BUILD) $(OPTIONS)

bench-peers: build-bench
	perf/peers/compare.py --build $(BUILD) $(OPTIONS)

# Instructions for each simulated last-level miss, where the machine has no hardware counters.
bench-cachegrind: build
	tools/cachegrind $(BUILD)

# Over network namespaces with shaped links, as root: TCP beside iperf3, PageRank beside timely.
bench-links: build-bench
	tools/install-packages --all
	perf/bench/links.py --build $(BUILD)
	perf/peers/links.py --build $(BUILD)

format:
	tools/install-packages --check
	clang-format-14 -i $(SOURCES)

lint: install-packages
	tools/lint

install-packages:
	tools/install-packages

clean:
	rm -rf $(BUILD)
