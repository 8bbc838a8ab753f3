# NeoPVM. `make` alone lists the targets. All logic is in cargo, in xtask/ and in a few shell scripts.

PREFIX ?= /usr/local

# rustup's programs, for a shell that was not opened again after they were installed
export PATH := $(PATH):$(HOME)/.cargo/bin

TARGET := $(if $(CARGO_TARGET_DIR),$(abspath $(CARGO_TARGET_DIR)),$(CURDIR)/target)
STAGE  := $(TARGET)/stage
# Not by cargo run, whose environment makes build scripts run anew.
XTASK  := cargo build --quiet --package xtask && $(TARGET)/debug/xtask
BENCH  := $(STAGE)/bin/pvm bench
SHIPPED := --package pvmd --package pvm-cli --package pvm-bench --package pvm-capi --package pvm-space --package pvm-clc

.DEFAULT_GOAL := help
.PHONY: help deps build lint check demo install bench bench-spawn bench-messages bench-modes bench-traces bench-java bench-interfaces bench-links bench-groups bench-tuples bench-nas bench-environments bench-faults predict-error oracle soak docs clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1	\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 28

deps: ## install what the other targets need (Debian packages as root; otherwise name them)
	@bash xtask/deps.sh all

build: ## build the daemon, the console and the libraries
	@bash xtask/deps.sh build
	cargo build --release $(SHIPPED)

lint: ## format, clippy and the check of the house
	@bash xtask/deps.sh build
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(XTASK) tidy

check: ## every test (FAST=1: the fast ones; PART=lint,tests: these; SINCE=main: what a change can affect)
	@bash xtask/deps.sh $(if $(filter-out 0,$(FAST)),build,check)
	@$(XTASK) check

demo: ## four hosts on this computer draw a picture, in C, Java and Python: target/demo/mandelbrot.png
	@bash xtask/deps.sh demo
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@bash examples/demo.sh $(STAGE) $(TARGET)/demo

install: build ## install into PREFIX=DIR
	@$(XTASK) install $(abspath $(PREFIX))

docs: ## all documents and references as one site: target/docs/index.html
	@bash xtask/deps.sh check
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@python3 xtask/docs.py $(STAGE) $(TARGET)/docs

bench: ## speed beside the peers that are installed: target/bench/report.html (QUICK=1: three minutes)
	@bash xtask/deps.sh bench
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) $(if $(filter-out 0,$(QUICK)),--quick) --out $(TARGET)/bench

bench-spawn: ## many trivial tasks, and single messages, side by side with the original if it is installed
	@bash xtask/deps.sh demo
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) script spawn --out $(TARGET)/bench/spawn

bench-messages: ## messages, side by side with Open MPI, MPICH and the original where they are installed (WRITE=1: into README and doc/performance.md)
	@bash xtask/deps.sh demo
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) script messages --out $(TARGET)/bench $(if $(filter-out 0,$(WRITE)),-- --write)

bench-traces: ## what recording costs, and reading a large trace (six minutes)
	@bash xtask/deps.sh demo
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) script traces --out $(TARGET)/bench/traces
	@bash benchmarks/traces/files.sh $(TARGET)/bench/traces

bench-modes: ## do small messages stay fast, left alone and disturbed: target/bench/modes.txt
	@bash xtask/deps.sh demo
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) script modes --out $(TARGET)/bench

bench-java: ## Java beside C, and beside the tables of the PBJ document: target/bench/java.txt
	@bash xtask/deps.sh demo
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) script java --out $(TARGET)/bench

bench-interfaces: ## the other interfaces beside PVM's calls and TCGMSG over MPI: target/bench/interfaces
	@bash xtask/deps.sh check
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) script interfaces --out $(TARGET)/bench/interfaces

bench-links: ## speed between two hosts of this computer (root): TCP, the original, ours
	@bash xtask/deps.sh check
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) script links --out $(TARGET)/bench/links

bench-groups: ## groups over 2 to 8 hosts of this computer (root): times, and what crosses the network
	@bash xtask/deps.sh check
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) script groups --out $(TARGET)/bench/groups

bench-tuples: ## tuple spaces beside Redis: target/bench/tuples/tuples.txt (ROUNDS=5, PASSES="one memory two")
	@bash xtask/deps.sh bench
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) script tuples --out $(TARGET)/bench/tuples

bench-nas: ## the NAS Parallel Benchmarks: target/bench/nas/report.html (QUICK=1, CLASS=S,W,A, PEER=DIR: programs of NPB)
	@bash xtask/deps.sh bench
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) nas $(if $(filter-out 0,$(QUICK)),--quick) $(if $(CLASS),--class $(CLASS)) $(if $(PEER),--peer $(abspath $(PEER))) --out $(TARGET)/bench/nas

bench-environments: ## the comparison of 1997 over NX, Express and PVM: target/bench/environments/tables.md (QUICK=1)
	@bash xtask/deps.sh bench
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@QUICK=$(filter-out 0,$(QUICK)) $(BENCH) script environments --out $(TARGET)/bench/environments

bench-faults: ## what tasks see while hosts, daemons and links fail (root): target/bench/faults.jsonl (TIMES=8)
	@bash xtask/deps.sh check
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@$(BENCH) script faults --out $(TARGET)/bench -- --times $(or $(TIMES),8)

predict-error: ## predictions beside the kernel's own TCP between namespaces (root): target/predict/error.txt
	@bash xtask/deps.sh check
	@$(MAKE) --no-print-directory install PREFIX=$(STAGE)
	@bash benchmarks/predict/judge.sh $(STAGE)/bin/pvm $(TARGET)/predict

oracle: ## record the original's answers for the conformance programs anew
	@bash xtask/deps.sh check
	bash conformance/run.sh oracle
	bash conformance/spread.sh oracle

soak: ## the long tests: simulations from random seeds and long fuzzing (MINUTES=60)
	@bash xtask/deps.sh check
	@$(XTASK) soak $(or $(MINUTES),60)

clean: ## remove what was built
	cargo clean
