# attache: `make demo` shows the whole job, `make test` checks it.

SHELL := /bin/bash
.DEFAULT_GOAL := help

PACKAGES := libsqlite3-dev libcurl4-openssl-dev libarchive-dev zlib1g-dev libssl-dev libmicrohttpd-dev pkg-config
PREFIX ?= /usr/local
SCRATCH ?= .build
# A warning is an error for the compiler that CI has; a newer one may find more to warn of.
STRICT = $(if $(filter 6.3.%,$(shell swift --version 2>/dev/null)),-Xswiftc -warnings-as-errors)
# The layering of Package.swift is enforced: an undeclared import is an error. Every build of a configuration has these
# flags, so that none compiles what another has compiled. A debugger wants `make build INFO=`.
INFO = -Xswiftc -gnone
FLAGS = --scratch-path $(SCRATCH) --explicit-target-dependency-import-check error --disable-local-rpath \
  -Xswiftc -use-ld=lld $(INFO) $(STRICT)
RUN = swift test $(FLAGS) -c $(CONFIGURATION) --skip-build --disable-xctest
# The tests run on a debug build, which is made in less time. CI runs them on the optimised one, which ships.
CONFIGURATION = debug
TESTED = $(SCRATCH)/$(CONFIGURATION)
PROGRAM = $(SCRATCH)/release/attache
BUNDLE = $(SCRATCH)/release/attachePackageTests.xctest
BENCH_BUILD = ATTACHE_BENCHMARKS=1 swift build $(FLAGS) -c release --product attache-bench

.PHONY: help deps deps-test build release checked tested demo test test-library test-clients test-kits test-engines test-install test-image soak mutants tsan lint counts format bench bench-peers bench-page bench-ratios \
  clean install deb pictures

help:  ## what there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

deps:  ## install the Debian packages that are missing
	@.ci/deps $(PACKAGES)

deps-test: deps  ## install what judges from outside: mandoc, shells, ssh-keygen, Chromium, axe-core, SQLCipher, moto, Slurm, lintian, mmdebstrap
	@.ci/deps-test .build

build: deps  ## a debug build
	swift build $(FLAGS)

release: deps  ## the program as it ships: optimised, and in need of no Swift
	swift build $(FLAGS) -c release --product attache

demo: release  ## the whole job on an embedded org, with its result
	@$(PROGRAM) demo

lint: deps  ## formatting and warnings, and whether the mutants fit the sources
	swift format lint --strict --parallel --recursive Sources Benchmarks Tests clients Package.swift
	@Tests/Mutants/mutants.py --check

counts:  ## count types, functions and lines of the reconciliation; REVISIONS='main~9 main' for these revisions
	@Tests/Counts/counts.py $(REVISIONS)

format:  ## format the sources in place
	swift format --in-place --recursive Sources Benchmarks Tests clients Package.swift

ifdef TEST
test: tested  ## lint, the demo and every suite; TEST='--filter NAME' runs the tests that it names
	$(RUN) $(TEST)
else
test: lint tested
	$(TESTED)/attache demo --data $(SCRATCH)/demo/snapshots --scratch $(SCRATCH)/demo/org </dev/null
	.ci/suites $(TESTED) $(SCRATCH)/logs
endif

# `checked` is the optimised program with its tests, for which CI need not wait to have all its tools.
checked: CONFIGURATION = release
checked tested: deps
	swift build $(FLAGS) -c $(CONFIGURATION) --build-tests

test-library: checked  ## the libraries as a package outside the tree builds and uses them
	ATTACHE_LIBRARY=1 $(BUNDLE) --testing-library swift-testing --filter 'DocumentationTests\.LibraryTests'

# ATTACHE=… judges a program that is built already.
ifndef ATTACHE
test-clients: release
endif
test-clients: ATTACHE ?= $(PROGRAM)
test-clients:  ## other people's clients, each as it is installed, against the embedded org
	@Tests/Clients/run.py $(ATTACHE) .build

ifndef ATTACHE
test-kits: release
endif
test-kits: ATTACHE ?= $(PROGRAM)
test-kits:  ## the kits of clients/ for apps: their tests, and a phone of each, against the embedded org
	@Tests/Kits/run.py $(ATTACHE) $(SCRATCH)

ifndef ATTACHE
test-engines: release
endif
test-engines: ATTACHE ?= $(PROGRAM)
test-engines:  ## the templates of packaging/engines: validated, and runs over workers by Slurm compared with one process
	@Tests/Engines/run.py $(ATTACHE) .build

test-install: deb  ## the package in a bare Debian without network: demo, nights by cron and systemd, another machine, removal
	@Tests/Install/run.py $(SCRATCH)/deb/attache_*.deb $(SCRATCH)/install

test-image: deb  ## the image of packaging/Containerfile, built in a Debian of its own, plays the demo
	@Tests/Install/image.py $(SCRATCH)/deb/attache_*.deb $(SCRATCH)/install

pictures: release  ## the pictures of the README, from the demo
	docs/pictures/make.py $(PROGRAM)

# SOAK=… keeps its state elsewhere, CAMPAIGNS='…' plays some of the campaigns.
soak: checked  ## every campaign of docs/dev/campaigns.md at its largest; resumes where it was interrupted
	@.ci/soak $(SCRATCH)/release $(SOAK)

mutants: deps  ## break the rules on purpose and see the tests notice, most of an hour; AREA=… or MUTANT=… a part
	@AREA='$(AREA)' MUTANT='$(MUTANT)' Tests/Mutants/mutants.py

tsan: deps  ## the tests under the thread sanitizer
	swift build --scratch-path $(SCRATCH)-tsan --sanitize=thread --build-tests
	swift test --scratch-path $(SCRATCH)-tsan --sanitize=thread --skip-build --disable-xctest $(TEST)

# ATTACHE=… measures a program that is built already.
ifndef ATTACHE
bench-peers: release
endif
bench-peers: ATTACHE ?= $(PROGRAM)
bench-peers:  ## the contacts of one org by attache and by what others would use; PEERS='--scale N --rounds N --json FILE'
	@Benchmarks/peers.py $(ATTACHE) .build $(PEERS)

bench: deps  ## compare workloads with their floors; BENCH=reconcile a run's returns
	$(BENCH_BUILD)
	@$(SCRATCH)/release/attache-bench $(BENCH)

# BENCHES=… measures a program that is built already.
ifndef BENCHES
bench-ratios: BENCHES = $(SCRATCH)/release/attache-bench
bench-ratios: deps
	$(BENCH_BUILD)
	@Benchmarks/ratios.py $(BENCHES)
else
bench-ratios:  ## compare benchmark ratios on small data with the stored baseline: 1 if one is a quarter worse
	@Benchmarks/ratios.py $(BENCHES)
endif

bench-page:  ## write the last results of `make bench` into Benchmarks/README.md
	@Benchmarks/page.py Benchmarks/out/bench.json

# Root installs what somebody with a compiler has built.
install:  ## what `make release` made, with manual pages, completions, units, examples and pages, to PREFIX
	@[ -x $(PROGRAM) ] || { echo 'make release comes first' >&2; exit 1; }
	@packaging/install $(PROGRAM) '$(DESTDIR)' '$(PREFIX)'

# ATTACHE=… packs a program that is built already.
ifndef ATTACHE
deb: release
endif
deb: ATTACHE ?= $(PROGRAM)
deb:  ## a Debian package of it, in .build/deb
	@rm -rf $(SCRATCH)/deb
	@packaging/deb $(ATTACHE) $(SCRATCH)/deb

clean:  ## remove what builds and demos made
	rm -rf .build .build-* .demo
