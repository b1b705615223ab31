# Everything a person needs; Meson does the work underneath. `make help` lists it.
BUILD := build
ASAN  := build-asan
JOBS  := $(shell nproc)

.PHONY: help build run test asan
help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: ## build/dormouse
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) -Dtests=false
	@ninja -C $(BUILD)

asan: ## everything with AddressSanitizer and UBSan
	@test -f $(ASAN)/build.ninja || meson setup $(ASAN) -Db_sanitize=address,undefined -Doptimization=1
	@ninja -C $(ASAN)

test: asan ## all tests
	@tools/run-tests $(ASAN)
