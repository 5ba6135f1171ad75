#!/usr/bin/env bash
# Runs the tests that need an engine on Podman, and writes into the table of docs/podman.md which of
# them pass. Why the others do not is written there by hand, and stays.
#
# Usage: podman-table.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
document=docs/podman.md

work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT

# It ends when this script does, however that dies: its standard input is a pipe from here.
coproc served { exec setsid bash "$here/podman.sh" "${TMPDIR:-/tmp}/kibotos-engine-podman-$$"; }
read -r ready socket <&"${served[0]}"
[[ $ready == ready ]] || exit 1

# A test that fails is what the table is for. Most of their time they wait, so many run at once.
KIBOTOS_TEST_DOCKER=unix://$socket cargo test --locked --test kibotos -- \
  engine_client:: engine_create:: engine_corpus:: agent:: --skip broken:: --test-threads 12 | tee "$work/log" || true
sed -n 's/^test \([^ ]*\) \.\.\. ok$/\1 passes/p; s/^test \([^ ]*\) \.\.\. FAILED$/\1 fails/p' \
  "$work/log" | sort >"$work/results"
[[ -s $work/results ]] || {
  echo "podman-table.sh: no test ran" >&2
  exit 1
}

version=$(podman --version) version=${version##* }
awk -v results="$work/results" -v version="$version" '
  BEGIN { FS = " *[|] *" }
  # What was written by hand of a test, by its name.
  NR == FNR { if ($2 ~ /^`/) why[substr($2, 2, length($2) - 2)] = $4; next }
  /^Made with Podman / { print "Made with Podman " version "."; next }
  /^\| test / { table = 1; print; next }
  table && /^\|-/ {
    print
    while ((getline line < results) > 0) {
      split(line, of, " ")
      print "| `" of[1] "` | " of[2] " | " (of[2] == "fails" ? why[of[1]] : "") " |"
    }
    next
  }
  table && /^\|/ { next }
  { table = 0; print }
' "$document" "$document" >"$work/document"
cp "$work/document" "$document"
