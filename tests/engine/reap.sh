#!/usr/bin/env bash
# Removes what tests made on an engine: containers with their nameless volumes, networks and
# volumes that bear the label kibotos.test/run with one of the values given, and nothing else.
#
# Usage: reap.sh SOCKET
#
# Values come on standard input, one a line. Nothing is removed before its end: a pipe that only
# the caller holds open ends with the caller, however that dies.
set -euo pipefail

call() {
  curl --disable --silent --show-error --fail --max-time 60 --globoff \
    --unix-socket "$socket" --request "$1" "http://docker$2"
}

# The identifiers of all of a kind that bear the label: the member KEY of each in the answer.
those() {
  local path=$1 key=$2
  # {"label":["kibotos.test/run=VALUE"]}
  call GET "$path%7B%22label%22%3A%5B%22kibotos.test%2Frun%3D$run%22%5D%7D" |
    grep --only-matching "\"$key\":\"[^\"]*\"" | cut -d'"' -f4 || true
}

remove() {
  local id
  for id in $(those '/containers/json?all=true&filters=' Id); do
    call DELETE "/containers/$id?force=true&v=true" || true
  done
  # What another removes at the same time is listed until it is gone.
  for id in $(those '/networks?filters=' Id); do
    call DELETE "/networks/$id" || true
  done
  for id in $(those '/volumes?filters=' Name); do
    call DELETE "/volumes/$id" || true
  done
}

left() {
  those '/containers/json?all=true&filters=' Id
  those '/networks?filters=' Id
  those '/volumes?filters=' Name
}

main() {
  socket=$1
  trap '' PIPE
  local runs=() try
  while read -r run; do
    # Without a value the filter would match the labels of every run.
    [[ $run =~ ^[0-9a-z-]+$ ]] || {
      echo "reap.sh: $run is no value of the label" >&2
      exit 2
    }
    runs+=("$run")
  done
  # What cannot be reached would otherwise look empty.
  call GET /_ping >/dev/null
  for run in "${runs[@]}"; do
    for ((try = 0; try < 20; try++)); do
      [[ -n $(left) ]] || break
      ((try == 0)) || sleep 0.1
      remove >/dev/null
    done
    [[ -z $(left) ]] || {
      echo "reap.sh: still there of run $run: $(left | paste -sd' ')" >&2
      exit 1
    }
  done
}

main "$@"
