# `make demo` shows the main job, `make test` is the one check. Both install what is missing.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON := .venv/bin/python
DEMO_SECONDS ?=
FUZZ_SECONDS ?= 30

.PHONY: help setup demo test ros bench fuzz docs lint venv

help: ## Shows the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: ## Installs what building needs (says what; with sudo where not root)
	@scripts/setup.sh build

demo: setup ## Emulator + bridge + live table of topics, until Ctrl-C (DEMO_SECONDS=n ends it by itself)
	@DEMO_SECONDS="$(DEMO_SECONDS)" scripts/demo.sh

test: ## Every check: format, lints, unit, golden, end-to-end, docs; ROS package where a workspace is sourced
	@scripts/test.sh

ros: setup venv ## The ROS 2 package in a sourced workspace (or RFLY_ROS_SETUP=.../setup.bash), under every RMW
	@scripts/ros.sh

bench: setup venv ## Ratios against the floor, as tables
	@scripts/bench.sh

fuzz: setup ## Every parser for FUZZ_SECONDS (30) each
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz.sh

docs: setup ## Regenerates docs/topics.md, docs/parameters.md and config/bridge.yaml from the tables in the code
	@cargo run -q -- docs --write .

venv:
	@scripts/setup.sh python
