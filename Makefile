# A thin front to meson: on a bare Debian 12 machine `make demo` and `make test` do everything.
BUILD ?= build
# Builds in other checkouts find the same objects in the compiler's cache.
export CCACHE_BASEDIR = $(CURDIR)
export CCACHE_NOHASHDIR = 1
# A graph file for the demo, and options of convert behind it; a Kronecker graph is made when none is named.
GRAPH ?=
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.h' '*.cpp')

.PHONY: build demo test test-all python-test wheel build-bench bench bench-peers bench-links bench-cachegrind format lint install-packages clean

build: install-packages
	test -f $(BUILD)/build.ninja || meson setup $(BUILD) $$(tools/build-options)
	test -e $(BUILD)/tests || meson configure $(BUILD) -Dtests=true
	ninja -C $(BUILD)

# The program only, without RDMA, DPDK and launchers where their packages are not there.
demo: export GRAPH := $(GRAPH)
demo:
	@tools/install-packages --demo
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) $$(tools/build-options) -Dtests=false
	@test -e $(BUILD)/edgewire || echo "demo: compiles the program: about $$((220 / $$(nproc) + 10)) s on $$(nproc) cores"
	@ninja -C $(BUILD) edgewire
	@tools/demo $(BUILD)/edgewire "$$GRAPH"

test: build
	tests/run.py --build $(BUILD)

# ONLY=rdma,tsan runs these pieces: see docs/testing.md.
test-all:
	tools/test-all $(ONLY)

# The package for Python: builds it, and runs its tests with the packages that they need, in an environment of their own.
python-test: install-packages
	tools/python-test

# The package for Python as a file that needs no packages of the system: dist/.
wheel: install-packages
	tools/wheel

build-bench: install-packages
	test -f $(BUILD)/build.ninja || meson setup $(BUILD) $$(tools/build-options)
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

format: install-packages
	clang-format-14 -i $(SOURCES)

lint: install-packages
	tools/lint

install-packages:
	tools/install-packages

clean:
	rm -rf $(BUILD)
