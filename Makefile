# attache: `make demo` shows the whole job, `make test` is everything that CI runs.

SHELL := /bin/bash
.DEFAULT_GOAL := help

PACKAGES := libsqlite3-dev libcurl4-openssl-dev libarchive-dev zlib1g-dev libssl-dev libmicrohttpd-dev pkg-config
PREFIX ?= /usr/local
SCRATCH ?= .build
# The layering of Package.swift is enforced: an undeclared import is an error.
FLAGS := --scratch-path $(SCRATCH) --explicit-target-dependency-import-check error
STRICT := -Xswiftc -warnings-as-errors
RUN := swift test $(FLAGS) $(STRICT) --skip-build --disable-xctest
# What is judged is what ships: one optimised build, with the tests beside it, in a place of its own.
CHECKED := $(SCRATCH)-test
OPTIMISED := --scratch-path $(CHECKED) --explicit-target-dependency-import-check error -c release

# What ships: optimised, with Swift's runtime in the program, and nothing looked up beside it. A program has no use for
# names that libraries could find in it; without them, and with its relocations packed, it is smaller and starts sooner.
SHIPPED := -c release --static-swift-stdlib --disable-local-rpath -Xswiftc -use-ld=lld \
  $(addprefix -Xlinker ,--no-export-dynamic --icf=safe -z pack-relative-relocs -z now)

.PHONY: help deps deps-test build release checked demo test test-clients test-install test-image soak mutants tsan lint format bench bench-peers bench-page bench-ratios \
  clean install deb pictures

help:  ## what there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

deps:  ## install the Debian packages that are missing
	@.ci/deps $(PACKAGES)

deps-test: deps  ## install what judges from outside: mandoc, shells, Chromium, axe-core, SQLCipher, lintian, mmdebstrap
	@.ci/deps-test .build

build: deps  ## a debug build
	swift build $(FLAGS)

release: deps  ## the program as it ships: optimised, and in need of no Swift
	swift build $(FLAGS) $(SHIPPED) --product attache

demo: release  ## the whole job on an embedded org, with its result
	@$(SCRATCH)/release/attache demo

lint: deps  ## formatting and warnings, and whether the mutants fit the sources
	swift format lint --strict --parallel --recursive Sources Tests Package.swift
	@Tests/Mutants/mutants.py --check

format:  ## format the sources in place
	swift format --in-place --recursive Sources Tests Package.swift

ifdef TEST
test: deps  ## everything that CI runs; TEST='--filter NAME' runs what it names on a debug build
	swift build $(FLAGS) $(STRICT) --build-tests
	$(RUN) $(TEST)
else
test: lint checked
	$(CHECKED)/release/attache demo --data $(CHECKED)/demo/snapshots --scratch $(CHECKED)/demo/org
	.ci/suites $(CHECKED)
endif

# The optimised build with its tests, for which CI need not wait to have all its tools.
checked: deps
	swift build $(OPTIMISED) $(STRICT) --build-tests

# ATTACHE=… judges a program that is built already.
ifndef ATTACHE
test-clients: release
endif
test-clients: ATTACHE ?= $(SCRATCH)/release/attache
test-clients:  ## other people's clients, each as it is installed, against the embedded org
	@Tests/Clients/run.py $(ATTACHE) .build

test-install: deb  ## the package in a bare Debian without network: demo, nights by cron and systemd, another machine, removal
	@Tests/Install/run.py $(SCRATCH)/deb/attache_*.deb $(SCRATCH)/install

test-image: deb  ## the image of packaging/Containerfile, built in a Debian of its own, plays the demo
	@Tests/Install/image.py $(SCRATCH)/deb/attache_*.deb $(SCRATCH)/install

pictures: release  ## the pictures of the README, from the demo
	docs/pictures/make.py $(SCRATCH)/release/attache

# SOAK=… keeps its state elsewhere, CAMPAIGNS='…' plays some of the campaigns.
soak: checked  ## every campaign of docs/dev/campaigns.md at its largest; resumes where it was interrupted
	@.ci/soak $(CHECKED)/release $(SOAK)

mutants: deps  ## break the rules on purpose and see the tests notice, most of an hour; AREA=… or MUTANT=… a part
	@AREA='$(AREA)' MUTANT='$(MUTANT)' Tests/Mutants/mutants.py

tsan: deps  ## the tests under the thread sanitizer
	swift build --scratch-path $(SCRATCH)-tsan --sanitize=thread --build-tests
	swift test --scratch-path $(SCRATCH)-tsan --sanitize=thread --skip-build --disable-xctest $(TEST)

# ATTACHE=… measures a program that is built already.
ifndef ATTACHE
bench-peers: release
endif
bench-peers: ATTACHE ?= $(SCRATCH)/release/attache
bench-peers:  ## the contacts of one org by attache and by what others would use; PEERS='--scale N --rounds N --json FILE'
	@Benchmarks/peers.py $(ATTACHE) .build $(PEERS)

bench: deps  ## workloads beside their floors; BENCH=reconcile a night's returns
	swift build $(FLAGS) $(SHIPPED) --product attache-bench
	@$(SCRATCH)/release/attache-bench $(BENCH)

# BENCHES=… measures a program that is built already.
ifndef BENCHES
bench-ratios: BENCHES = $(SCRATCH)/release/attache-bench
bench-ratios: deps
	swift build $(FLAGS) $(SHIPPED) --product attache-bench
	@Benchmarks/ratios.py $(BENCHES)
else
bench-ratios:  ## the benchmarks' ratios on small data, beside those that are kept: 1 where one is a quarter worse
	@Benchmarks/ratios.py $(BENCHES)
endif

bench-page:  ## what `make bench` measured last, in docs/performance.md
	@Benchmarks/page.py Benchmarks/out/bench.json

# Root installs what somebody with a compiler has built.
install:  ## what `make release` made, with manual pages, completions, units, examples and pages, to PREFIX
	@[ -x $(SCRATCH)/release/attache ] || { echo 'make release comes first' >&2; exit 1; }
	@packaging/install $(SCRATCH)/release/attache '$(DESTDIR)' '$(PREFIX)'

# ATTACHE=… packs a program that is built already.
ifndef ATTACHE
deb: release
endif
deb: ATTACHE ?= $(SCRATCH)/release/attache
deb:  ## a Debian package of it, in .build/deb
	@rm -rf $(SCRATCH)/deb
	@packaging/deb $(ATTACHE) $(SCRATCH)/deb

clean:  ## remove what builds and demos made
	rm -rf .build .build-* .demo
