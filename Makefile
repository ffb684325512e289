# `make demo` shows the main job, `make test` is the one check. Both install what is missing.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON := .venv/bin/python
DEMO_SECONDS ?=
FUZZ_SECONDS ?= 30
# A flight takes about a minute of virtual time, on each of three links; so does a stream.
SOAK_FLIGHTS ?= 3334
SOAK_STREAMS ?= 10000

.PHONY: help setup demo demo-view first-minute test soak ros ros-install bench performance algorithms fuzz lint zenoh package dist sbom docs site venv

help: ## Shows the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: ## Installs what building needs (says what; with sudo where not root)
	@scripts/setup.sh build

demo: setup ## Emulator + bridge + live table of topics and a page, until Ctrl-C (DEMO_SECONDS=n ends it by itself)
	@DEMO_SECONDS="$(DEMO_SECONDS)" scripts/demo.sh

demo-view: setup ## The same, and opens the page of the bridge in a browser (docs/view.md)
	@DEMO_OPEN=1 DEMO_SECONDS="$(DEMO_SECONDS)" scripts/demo.sh

first-minute: setup venv ## A newcomer's first minute: clone, make demo, its page in headless Chromium (target/first_minute.png; builds for minutes)
	@$(PYTHON) scripts/first_minute.py

test: ## Every check: format, lints, unit, golden, end-to-end, docs; ROS package in the sourced workspace or on PyPI's wheels (not with RFLY_ROS_WHEELS=none)
	@scripts/test.sh

soak: setup venv ## 10,000 seeded minutes each of flights and streams, the attacks of test/attack with large counts, fleets and floods, the ROS 2 package in Kilted (an hour and more)
	@RFLY_FLIGHTS=$(SOAK_FLIGHTS) RFLY_STREAMS=$(SOAK_STREAMS) cargo test -q --test it -- flight:: stream::
	@cargo build -q --release
	@RFLY_SOAK=1 PYTEST_TIMEOUT=0 RFLY_BRIDGE=target/release/rfly_bridge RFLY_EMULATOR=target/release/rflysim_emulator scripts/e2e.sh \
		test/attack test/e2e/vehicles/test_fleet.py test/e2e/programs/test_robustness.py
	@env -u AMENT_PREFIX_PATH -u RFLY_ROS_SETUP RFLY_ROS_WHEELS=kilted scripts/ros.sh

ros: setup venv ## The ROS 2 package in a sourced workspace (or RFLY_ROS_SETUP=.../setup.bash), under every RMW; without one in Jazzy of PyPI's wheels
	@scripts/ros.sh

ros-install: ## Into the workspace WS (make ros-install WS=~/ws), from a sourced, stock ROS 2: messages, build
	@scripts/ros_install.sh "$(WS)"

bench: setup venv ## Ratios against the floor, as tables
	@scripts/bench.sh

performance: setup ## docs/performance.md with new figures; on a machine that does nothing else (minutes)
	@mkdir -p target
	@cargo bench -q --bench path -- --json target/path.json
	@cargo bench -q --bench control -- --json target/control.json
	@cargo bench -q --bench path -- view --json target/view.json
	@cargo bench -q --bench path -- instructions --json target/instructions.json
	@python3 scripts/performance.py target/path.json target/control.json target/view.json target/instructions.json

algorithms: setup ## docs/algorithms.md with new figures: algorithms from PyPI, and of a sourced workspace, on the topics (minutes)
	@cargo build -q --release
	@RFLY_BRIDGE=target/release/rfly_bridge RFLY_EMULATOR=target/release/rflysim_emulator scripts/algorithms.sh long
	@scripts/algorithms_ros.sh
	@[ ! -e target/algorithms_ros.json ] || scripts/algorithms.py target/algorithms_ros.json

fuzz: setup ## Every parser, sensor, clock, and a vehicle for FUZZ_SECONDS (30) each
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz.sh

lint: setup ## Format, lints, and licences, sources and known holes of the dependencies (deny.toml)
	@scripts/lint.sh

zenoh: setup ## The program with Zenoh (docs/zenoh.md): builds it (17 CPU minutes) and tests it against PyPI's eclipse-zenoh
	@scripts/zenoh.sh

package: setup ## A .deb and a wheel in target/dist, for this machine (a release build: minutes)
	@scripts/dist.sh pack

dist: setup ## The same, each run in a clean Debian (as root), those for arm64 in qemu-user, and the program with Zenoh (an hour of CPU)
	@scripts/dist.sh

sbom: setup ## What the programs are made of, as CycloneDX, from Cargo.lock
	@scripts/sbom.sh

docs: setup ## Regenerates docs/topics.md, docs/parameters.md and config/bridge.yaml from the tables in the code
	@cargo run -q -- docs --write .

site: setup ## The documentation as a site, in target/site (mdBook)
	@scripts/setup.sh mdbook
	@mdbook build

venv:
	@scripts/setup.sh python
