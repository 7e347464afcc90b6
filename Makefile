# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
# The developer's interface. `make demo` and `make test` do everything on a fresh Debian 12 machine.
BUILD ?= build
JOBS ?= $(shell nproc)

PACKAGES_BUILD = g++ cmake ninja-build libcli11-dev nlohmann-json3-dev libarchive-dev zlib1g-dev liblzma-dev libzstd-dev \
	libyaml-cpp-dev libspdlog-dev libjemalloc-dev flatbuffers-compiler libflatbuffers-dev
PACKAGES_TEST = doctest-dev gcc clang python3 python3-jsonschema python3-yaml mandoc
PACKAGES_SHELLS = bash zsh fish mandoc
PACKAGES_BOARD = gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf \
	qemu-system-misc
PACKAGES_DEB = dpkg-dev file lintian
PACKAGES_STATIC = python3
PACKAGES_ROOT = mmdebstrap
PACKAGES_HTML = chromium python3-websocket
PACKAGES_CHECK = clang-format clang-tidy cppcheck
PACKAGES_COVERAGE = gcovr
PACKAGES_BENCH = libbenchmark-dev llvm-16 gcc-arm-none-eabi libnewlib-arm-none-eabi
PACKAGES_FUZZ = clang libclang-rt-14-dev llvm python3

# Installs the packages of a list that are missing; asks for root only then.
install_missing = missing=$$(for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'install ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
	  echo "installing:" $$missing; \
	  root=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  $$root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$root apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi

CONFIGURE = cmake -S . -G Ninja
# Built whole more often than in part: sources of a module together. For changing them, `cmake -B …` without it.
RELEASE = -DCMAKE_BUILD_TYPE=Release -DUSMP_UNITY=ON

.PHONY: all
all: deps
	@$(CONFIGURE) -B $(BUILD) $(RELEASE) -DUSMP_TESTS=OFF >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)

.PHONY: deps
deps:
	@$(call install_missing,$(PACKAGES_BUILD))

.PHONY: deps-test
deps-test: deps
	@$(call install_missing,$(PACKAGES_TEST))

# What tests skip without, and what the checks need. CI skips nothing.
.PHONY: deps-ci
deps-ci: deps-test
	@$(call install_missing,$(PACKAGES_SHELLS) $(PACKAGES_HTML) $(PACKAGES_BOARD) $(PACKAGES_CHECK))

# Plans a TensorFlow Lite model and an archive of TVM into a bounded fast memory, a slow one and flash, and shows the plans.
.PHONY: demo
demo: all
	./$(BUILD)/usmp-plan testdata/tflite/keywords.tflite --pools testdata/pools/dtcm_sram.yaml -o $(BUILD)/demo
	@echo; echo "The C is in $(BUILD)/demo:"; cd $(BUILD)/demo && find . -type f | sort; echo
	./$(BUILD)/usmp-plan testdata/ds_cnn.tar --pools testdata/pools/dtcm_sram.yaml -o $(BUILD)/demo_archive

.PHONY: build-tests
build-tests: deps-test
	@$(CONFIGURE) -B $(BUILD) $(RELEASE) -DUSMP_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)

.PHONY: test
test: build-tests
	@ctest --test-dir $(BUILD) -j $$(($(JOBS) + 1)) --output-on-failure  # some wait, for clocks and for programs

# More random modules than `make test` has: make random-modules COUNT=10000 SEED=1 COMPILE_EVERY=1 TRANSFORM=all
COUNT ?= 1000
SEED ?= 1000000
COMPILE_EVERY ?= 1
TRANSFORM ?= none
.PHONY: random-modules
random-modules: deps-test
	@$(CONFIGURE) -B $(BUILD) $(RELEASE) -DUSMP_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target usmp-random-modules
	@$(BUILD)/tests/usmp-random-modules --seed $(SEED) --count $(COUNT) --compile-every $(COMPILE_EVERY) --transform $(TRANSFORM) --jobs $(JOBS)

# Random modules and networks written as TVM's C and read back: make random-c COUNT=10000
.PHONY: random-c
random-c: deps-test
	@$(CONFIGURE) -B $(BUILD) $(RELEASE) -DUSMP_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target usmp-random-modules
	@for kind in "" "--networks --transform all"; do \
	  $(BUILD)/tests/usmp-random-modules --from-c $$kind --seed $(SEED) --count $(COUNT) --compile-every $(COMPILE_EVERY) --variants 1 --jobs $(JOBS) || exit 1; \
	done

# Random TensorFlow Lite models, each interpreted, and transformed and interpreted; one in 25 planned in two ways, compiled
# and run: make random-tflite COUNT=10000
.PHONY: random-tflite
random-tflite: deps-test
	@$(CONFIGURE) -B $(BUILD) $(RELEASE) -DUSMP_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target usmp-random-tflite usmp-plan
	@rm -rf $(BUILD)/random_tflite
	@$(BUILD)/tests/usmp-random-tflite --seed $(SEED) --count $(COUNT) --transform-every 1 --jobs $(JOBS) \
	  --write $(BUILD)/random_tflite --write-every 25
	@python3 -B tests/e2e/tflite.py $(BUILD)/usmp-plan $(BUILD)/random_tflite --in-turn --sanitize 4 --jobs $(JOBS)

# C with an entry that is edited at random, planned and run; models that fail stay in $(BUILD)/edits: make random-edits COUNT=3000
.PHONY: random-edits
random-edits: deps-test
	@$(CONFIGURE) -B $(BUILD) $(RELEASE) -DUSMP_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target usmp-plan
	@/usr/bin/python3 -B tests/e2e/random_edits.py $(BUILD)/usmp-plan --seed $(SEED) --count $(COUNT) --jobs $(JOBS) --keep $(BUILD)/edits --statistics

# Random networks and modules transformed and interpreted, by each step alone and by all, then planned, compiled and run
# with all of them, one in a hundred: make random-transforms COUNT=100000
.PHONY: random-transforms
random-transforms: deps-test
	@$(CONFIGURE) -B $(BUILD) $(RELEASE) -DUSMP_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target usmp-random-modules
	@for steps in $$($(BUILD)/tests/usmp-random-modules --list-steps) all; do \
	  echo "--transform $$steps"; \
	  for kind in --networks ""; do \
	    $(BUILD)/tests/usmp-random-modules $$kind --transform $$steps --no-plans --seed $(SEED) --count $(COUNT) --jobs $(JOBS) || exit 1; \
	  done; \
	done
	@$(BUILD)/tests/usmp-random-modules --networks --transform all --seed $(SEED) --count $$(($(COUNT) / 100 + 1)) --variants 1 --jobs $(JOBS)

# Planned beside unshared code: every archive there is with every algorithm, pools file and placement. Hours.
.PHONY: execute
execute: all deps-test
	@python3 -B tests/e2e/execute.py $(BUILD)/usmp-plan testdata $(wildcard ../shared/archives) --full --jobs $(JOBS)

# Firmware of examples/firmware with planned models, run under qemu on Cortex-M and RISC-V. `make test` does this where the
# packages are there already.
.PHONY: test-firmware
test-firmware: all deps-test
	@$(call install_missing,$(PACKAGES_BOARD))
	@python3 -B tests/e2e/firmware.py $(BUILD)/usmp-plan testdata --shared ../shared/archives --required --jobs $(JOBS)

# The memory map's page in a headless Chromium. `make test` does this only where both packages are there already.
.PHONY: check-html
check-html: all deps-test
	@$(call install_missing,$(PACKAGES_HTML))
	@python3 -B tests/report/test_memory_map.py $(BUILD)/usmp-plan testdata --browser

# Format, comments, lint (cppcheck, clang-tidy) and the order of the layers.
.PHONY: check
check: deps-test
	@$(call install_missing,$(PACKAGES_CHECK))
	@.ci/check_layers
	@.ci/check_spdx
	@.ci/check_comments
	@.ci/check_format
	@.ci/check_cppcheck $(JOBS)
	@$(CONFIGURE) -B $(BUILD) $(RELEASE) -DUSMP_TESTS=ON >/dev/null
	@.ci/check_tidy $(BUILD) $(JOBS)

.PHONY: format
format:
	@$(call install_missing,$(PACKAGES_CHECK))
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

# All tests under AddressSanitizer and UndefinedBehaviorSanitizer.
.PHONY: asan
asan: deps-test
	@$(CONFIGURE) -B $(BUILD)-asan -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -g1" -DUSMP_UNITY=ON \
	  -DUSMP_SANITIZE=ON >/dev/null
	@cmake --build $(BUILD)-asan -j $(JOBS)
	@ctest --test-dir $(BUILD)-asan -j $(JOBS) --output-on-failure

# Which lines and branches the tests reach: a summary here, the sources in $(BUILD)-coverage/report/index.html. Left out:
# one test that makes allocations fail, which the counting itself does not survive, and one that links a program of its own.
.PHONY: coverage
coverage: deps-test
	@$(call install_missing,$(PACKAGES_COVERAGE))
	@$(CONFIGURE) -B $(BUILD)-coverage $(RELEASE) -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" \
	  -DCMAKE_CXX_FLAGS="--coverage -fprofile-update=atomic" -DUSMP_TESTS=ON >/dev/null
	@find $(BUILD)-coverage -name '*.gcda' -delete
	@cmake --build $(BUILD)-coverage -j $(JOBS)
	@ctest --test-dir $(BUILD)-coverage -j $(JOBS) --output-on-failure -E '^(e2e: faults|package: )'
	@mkdir -p $(BUILD)-coverage/report
	@gcovr --root . --filter src/ --filter include/ --filter apps/ --exclude-throw-branches --exclude-unreachable-branches \
	  --gcov-ignore-parse-errors -j $(JOBS) --html-details $(BUILD)-coverage/report/index.html --print-summary \
	  --txt $(BUILD)-coverage/report/files.txt $(BUILD)-coverage

# Puts faults in one at a time and shows which test sees each (tests/mutations). NAMES="load verify" runs those only
# whose names or files contain one of the words.
.PHONY: mutants
mutants: deps-test
	@$(CONFIGURE) -B $(BUILD)-mutants -DCMAKE_BUILD_TYPE=Release -DUSMP_TESTS=ON >/dev/null
	@cmake --build $(BUILD)-mutants -j $(JOBS)
	@python3 -B tests/mutations/run.py $(BUILD)-mutants $(NAMES) --jobs $(JOBS)

# Breaks FILES in small ways that follow from their text and names what no test sees: FILES=src/c/lexer.cpp ARGS="--tests c
# --sample 100"; a measurement, no test.
.PHONY: mutate
mutate: deps-test
	@$(CONFIGURE) -B $(BUILD)-mutants -DCMAKE_BUILD_TYPE=Release -DUSMP_TESTS=ON >/dev/null
	@cmake --build $(BUILD)-mutants -j $(JOBS)
	@python3 -B tests/mutations/mutate.py $(BUILD)-mutants $(FILES) $(ARGS) --jobs $(JOBS)

.PHONY: bench
bench: deps-test
	@$(call install_missing,$(PACKAGES_BENCH))
	@$(CONFIGURE) -B $(BUILD)-bench -DCMAKE_BUILD_TYPE=Release -DUSMP_TESTS=OFF -DUSMP_BENCH=ON >/dev/null
	@cmake --build $(BUILD)-bench -j $(JOBS)
	@bench/run $(BUILD)-bench

# Looks for inputs that crash: each target for TIME seconds. TARGETS="csv pools" runs some of them.
TIME ?= 60
.PHONY: fuzz-build
fuzz-build: deps
	@$(call install_missing,$(PACKAGES_FUZZ))
	@$(CONFIGURE) -B $(BUILD)-fuzz -DUSMP_UNITY=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DCMAKE_C_COMPILER=clang \
	  -DCMAKE_CXX_COMPILER=clang++ -DUSMP_TESTS=OFF -DUSMP_FUZZ=ON >/dev/null
	@cmake --build $(BUILD)-fuzz -j $(JOBS)

.PHONY: fuzz
fuzz: fuzz-build
	@tests/fuzz/run.py $(BUILD)-fuzz testdata/fuzz --time $(TIME) --jobs $(JOBS) $(if $(TARGETS),--targets $(TARGETS))

# Replaces the corpora of testdata by the smallest ones that reach the same, with what `make fuzz` has found.
.PHONY: fuzz-merge
fuzz-merge: fuzz-build
	@tests/fuzz/run.py $(BUILD)-fuzz testdata/fuzz --merge --jobs $(JOBS) $(if $(TARGETS),--targets $(TARGETS))

# make install PREFIX=/opt/usmp DESTDIR=/tmp/stage: to /usr/local without them.
.PHONY: install
install: all
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) $(if $(PREFIX),--prefix "$(PREFIX)")

# usmp-plan_VERSION_ARCH.deb and libusmp-dev_VERSION_ARCH.deb in $(BUILD)-deb. The same sources give the same bytes.
.PHONY: deb
deb: deps
	@$(call install_missing,$(PACKAGES_DEB))
	@$(CONFIGURE) -B $(BUILD)-deb $(RELEASE) -DCMAKE_INSTALL_PREFIX=/usr -DUSMP_TESTS=OFF -DUSMP_DEBIAN=ON >/dev/null
	@cmake --build $(BUILD)-deb -j $(JOBS)
	@cd $(BUILD)-deb && rm -f *.deb && SOURCE_DATE_EPOCH=1767225600 cpack >/dev/null && ls *.deb

# build/usmp-plan-VERSION-ARCH.tar.xz: the program in one file that any Linux of this architecture runs, and its documents.
ARCH = $(shell uname -m)
.PHONY: static
static: deps
	@$(call install_missing,$(PACKAGES_STATIC))
	@$(CONFIGURE) -B $(BUILD) $(RELEASE) -DUSMP_TESTS=OFF >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target all usmp-plan-static
	@python3 -B cmake/static_archive.py $(BUILD) $(ARCH)

# The packages: contents, lintian, and installed and run in a root directory of their own.
.PHONY: check-deb
check-deb: deb
	@$(call install_missing,$(PACKAGES_ROOT))
	@python3 -B tests/package/check_deb.py $(BUILD)-deb .

# The steps of .ci/Dockerfile, each stage in a fresh Debian of its own. As root; takes minutes.
.PHONY: check-docker
check-docker: deps
	@$(call install_missing,$(PACKAGES_ROOT))
	@python3 -B tests/package/check_dockerfile.py .

# Completions in all three shells, and the manual page. `make test` leaves out the shells that are not installed.
.PHONY: check-documents
check-documents: all
	@$(call install_missing,$(PACKAGES_SHELLS))
	@for kind in bash zsh fish man; do \
	  python3 -B tests/apps/test_documents.py $$kind $(BUILD)/usmp-plan $(BUILD)/documents --required || exit 1; \
	done

# The picture of README.md; a test tells when it is not current.
.PHONY: picture
picture: all
	@$(BUILD)/usmp-plan report testdata/resnet8.tar --format svg -o docs/resnet8.svg

# The picture of docs/performance.md: memory and work of MobileNetV2. Takes a minute.
.PHONY: frontier
frontier: all
	@python3 -B bench/mobilenet_v2.py $(BUILD)/mobilenet_v2_144.json --side 144
	@$(BUILD)/usmp-plan compare $(BUILD)/mobilenet_v2_144.json --recompute 0,10,20,30,60 --format svg > docs/frontier.svg

.PHONY: clean
clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-bench $(BUILD)-coverage $(BUILD)-deb $(BUILD)-fuzz
