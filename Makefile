# Everything a person needs; Meson does the work underneath. `make help` lists it.
#
#   PREFIX=/usr/local   where `make install` puts things      DESTDIR=   a root to install into
#   SUITE=part          only suites whose name contains this  DATA=dir   data directory of `make run`
#   FUZZ_SECONDS=60     how long each fuzz target runs        ARGS=      more arguments for `make run`

PREFIX       ?= /usr/local
DESTDIR      ?=
SUITE        ?=
FUZZ_SECONDS ?= 60
ARGS         ?=
export PATH  := $(PATH):/usr/sbin
MAKEFLAGS    += --no-print-directory

# A Meson build directory is set up once; ninja looks after the rest.
setup = test -f $(1)/build.ninja || meson setup $(1) $(2) >$(1).setup.log 2>&1 || { cat $(1).setup.log; exit 1; }

.PHONY: help
help: ## this list
	@echo "Dormouse: make TARGET"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14 | sed 's/^/  /'
	@sed -n 's/^#   //p' Makefile | sed 's/^/  /'

.PHONY: build
build: ## build/dormouse, optimised
	@tools/setup build
	@$(call setup,build,-Dtests=false)
	@ninja -C build

.PHONY: run
run: build ## build, start the daemon on 127.0.0.1:7117 and print its URL
	@exec build/dormouse serve $(if $(DATA),--data $(DATA)) $(ARGS)

# Line tables are all that a sanitizer's report needs of the debug information, and save a quarter
# of the time of compiling.
.PHONY: asan
asan: ## everything with AddressSanitizer and UBSan, in build-asan/
	@tools/setup build
	@$(call setup,build-asan,-Db_sanitize=address$(comma)undefined -Doptimization=1 -Dc_args=-g1)
	@ninja -C build-asan
comma := ,

.PHONY: test
test: ## install what tests need, build with sanitizers and run every suite
	@tools/setup build test
	@$(MAKE) -j2 build asan
	@tools/run-tests build-asan --suite "$(SUITE)"

.PHONY: test-long
test-long: ## the long sweeps that `make test` leaves out
	@tools/setup build test
	@$(MAKE) asan
	@DORMOUSE_TEST_LONG=1 tools/run-tests build-asan --suite "$(SUITE)" --time-factor 20

.PHONY: test-llm
test-llm: ## fetch a llama-server and a small model (700 MB on disk) and talk to them
	@tools/setup build test
	@$(MAKE) asan
	@tools/setup-llm build-llm
	@tests/llm/run build-asan/tests/llm/test-llm build-llm

.PHONY: bench
bench: ## one JSON line for each figure
	@tools/setup build bench
	@$(call setup,build-bench,)
	@ninja -C build-bench >build-bench/ninja.log || { cat build-bench/ninja.log; exit 1; }
	@tools/bench build-bench

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZ_SECONDS
	@tools/setup build fuzz
	@export CC=clang; $(call setup,build-fuzz,-Dfuzzing=true -Db_sanitize=address$(comma)undefined -Doptimization=1)
	@ninja -C build-fuzz
	@tools/fuzz build-fuzz $(FUZZ_SECONDS)

.PHONY: coverage
coverage: ## lines of src/ that the tests reach
	@tools/setup build test coverage
	@$(call setup,build-coverage,-Db_coverage=true -Doptimization=0 -Dwerror=false -Dc_args=-fprofile-update=atomic)
	@ninja -C build-coverage
	@tools/coverage build-coverage

.PHONY: format
format: ## clang-format over all C files
	@tools/setup lint
	@git ls-files '*.c' '*.h' | xargs clang-format -i

.PHONY: lint
lint: ## formatting, clang's warnings, clang-tidy
	@tools/setup build lint
	@git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror
	@export CC=clang; $(call setup,build-lint,)
	@ninja -C build-lint
	@git ls-files 'src/*.c' | xargs -P $$(nproc) -n 1 clang-tidy -p build-lint --quiet 2>/dev/null

.PHONY: install
install: build ## into DESTDIR/PREFIX: binary, man page, completion, systemd user unit
	@meson configure build -Dprefix=$(PREFIX)
	@meson install -C build $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

.PHONY: try-bare
try-bare: ## test and run in a minimal Debian root with nothing prepared (needs root)
	@tools/setup bare
	@tools/try-bare

.PHONY: clean
clean: ## remove everything that was built
	@rm -rf build build-* tests/e2e/node_modules web/node_modules
