# What a contributor runs. `make` alone lists it.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Where Rust and Go install themselves, for a shell that was not told.
export PATH := $(PATH):$(HOME)/.cargo/bin:/usr/local/go/bin

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build: need-compiler ## Build the program, target/release/kibotos
	@cargo build --locked --release

.PHONY: demo
demo: need-compiler need-tools cluster-tools ## Show what works so far, on a Kubernetes API of its own
	@examples/demo.sh

.PHONY: test
test: need-compiler need-tools need-engine cluster-tools ## Run all tests
	@cargo test --locked

.PHONY: lint
lint: need-compiler need-lints ## Check format, Rust, documentation and shell scripts
	@cargo fmt --check
	find . \( -path ./target -o -path ./.git \) -prune -o \( -name '*.sh' -o -path ./.ci/run \) -print |
		xargs shellcheck --exclude=SC2317 # Debian's does not see that a trap calls a function
	cargo clippy --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --locked

.PHONY: bench
bench: need-compiler need-tools need-engine cluster-tools ## Measure, as ratios in one run
	@cargo bench --locked

.PHONY: podman-table
podman-table: need-compiler need-tools need-engine need-podman cluster-tools ## Run the engine tests on Podman, into docs/podman.md
	@tests/engine/podman-table.sh

.PHONY: crds
crds: need-compiler ## Write crds/ anew from the types in src/api
	@cargo run --locked --quiet -- crds --out crds

.PHONY: cluster-tools
cluster-tools: need-go ## Build Kubernetes' own programs for tests and demo, once
	@bash tests/cluster/tools.sh >/dev/null

# What the targets above need. Debian packages that are missing are installed where root runs
# this; PROGRAM:PACKAGE, for the program tells whether the package is there.
.PHONY: need-compiler need-tools need-engine need-podman need-go need-lints
need-compiler: debian := cc:gcc /usr/include/stdio.h:libc6-dev \
	/etc/ssl/certs/ca-certificates.crt:ca-certificates
need-tools: debian := openssl:openssl curl:curl setpriv:util-linux flock:util-linux \
	diff:diffutils kill:procps
need-engine: debian := dockerd:docker.io iptables:iptables ip:iproute2 unshare:util-linux \
	pgrep:procps /usr/share/doc/busybox-static:busybox-static \
	docker-registry:docker-registry setpriv:util-linux
need-podman: debian := podman:podman
need-go: debian := /etc/ssl/certs/ca-certificates.crt:ca-certificates flock:util-linux
need-lints: debian := shellcheck:shellcheck

define install_missing
packages=()
for need in $(debian); do
	[[ -e $${need%:*} ]] || type -P "$${need%:*}" >/dev/null || packages+=("$${need##*:}")
done
if (($${#packages[@]} > 0)); then
	if ((UID != 0)) || ! type -P apt-get >/dev/null; then
		echo "missing: $${packages[*]}; on Debian: sudo apt-get install $${packages[*]}" >&2
		exit 1
	fi
	echo "installing $${packages[*]}"
	apt-get -qq update
	DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends \
		"$${packages[@]}" >/dev/null
fi
endef

need-compiler:
	@$(install_missing)
	type -P cargo >/dev/null || {
		echo "Rust is missing: install 1.95 or newer, see https://rustup.rs" >&2
		exit 1
	}

need-tools:
	@$(install_missing)

need-engine:
	@$(install_missing)

need-podman:
	@$(install_missing)

need-go:
	@$(install_missing)
	type -P go >/dev/null || {
		echo "Go is missing: install 1.26 or newer, see https://go.dev/dl" >&2
		exit 1
	}

need-lints:
	@$(install_missing)
	for component in rustfmt clippy; do
		cargo "$${component#rust}" --version >/dev/null 2>&1 || rustup component add "$$component"
	done
