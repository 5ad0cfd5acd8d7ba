# attache: `make demo` shows the whole job, `make test` is everything that CI runs.

SHELL := /bin/bash
.DEFAULT_GOAL := help

PACKAGES := libsqlite3-dev libcurl4-openssl-dev libarchive-dev libssl-dev libmicrohttpd-dev pkg-config
PREFIX ?= /usr/local
SCRATCH ?= .build
# The layering of Package.swift is enforced: an undeclared import is an error.
FLAGS := --scratch-path $(SCRATCH) --explicit-target-dependency-import-check error
STRICT := -Xswiftc -warnings-as-errors
RUN := swift test $(FLAGS) $(STRICT) --skip-build --disable-xctest
# All tests of a process begin at once, and each keeps its org, its stores and its connections: together they
# hold more than the 1,024 descriptors that Foundation can start a program with. So the suites run in groups,
# each in a process of its own; TEST='--filter NAME' runs what it names in one.
GROUPS := PipelinesTests|RehearsalTests MobileSyncTests ReconciliationTests|LocalOrgTests HistoriesTests
space := $(subst ,, )

.PHONY: help deps build release demo test soak mutants tsan lint format bench clean install

help:  ## what there is to make
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

deps:  ## install the Debian packages that are missing
	@.ci/deps $(PACKAGES)

build: deps  ## a debug build
	swift build $(FLAGS)

release: deps  ## an optimised build
	swift build $(FLAGS) -c release --product attache

demo: release  ## the whole job on an embedded org, with its result
	@$(SCRATCH)/release/attache demo

lint: deps  ## formatting and warnings
	swift format lint --strict --recursive Sources Tests Package.swift

format:  ## format the sources in place
	swift format --in-place --recursive Sources Tests Package.swift

test: lint  ## everything that CI runs
	swift build $(FLAGS) $(STRICT) --build-tests
	swift build $(FLAGS) -c release --product attache
	$(SCRATCH)/release/attache demo --data $(SCRATCH)/demo/snapshots --scratch $(SCRATCH)/demo/org
ifdef TEST
	$(RUN) $(TEST)
else
	@set -e; for group in $(foreach group,$(GROUPS),'$(group)'); do \
	  echo "$(RUN) --filter '^($$group)'"; $(RUN) --filter "^($$group)"; done
	$(RUN) --skip '^($(subst $(space),|,$(GROUPS)))'
endif

soak: deps  ## 5,000 histories over whole pipelines, half an hour; SEED=… begins elsewhere
	swift build $(FLAGS) $(STRICT) --build-tests
	ATTACHE_HISTORIES=$(or $(HISTORIES),5000) $(RUN) --filter 'HistoriesTests\.HistoriesTests/.*passed'

mutants: deps  ## break the rules on purpose and see the tests notice, most of an hour; AREA=… or MUTANT=… a part
	@AREA='$(AREA)' MUTANT='$(MUTANT)' Tests/Mutants/mutants.py

tsan: deps  ## the tests under the thread sanitizer
	swift build --scratch-path $(SCRATCH)-tsan --sanitize=thread --build-tests
	swift test --scratch-path $(SCRATCH)-tsan --sanitize=thread --skip-build --disable-xctest $(TEST)

bench: deps  ## workloads beside their floors
	swift build $(FLAGS) -c release --product attache-bench
	@$(SCRATCH)/release/attache-bench $(BENCH)

install: release  ## install to PREFIX
	install -D -m 0755 $(SCRATCH)/release/attache $(DESTDIR)$(PREFIX)/bin/attache

clean:  ## remove what builds and demos made
	rm -rf .build .build-* .demo
