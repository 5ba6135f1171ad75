#!/usr/bin/env bash
# Serves a Docker Engine of its own for as long as its caller lives.
#
# Usage: serve.sh DIR [podman]
#
# DIR must not exist yet; every bit of state is kept in it. Needs root, and Docker's daemon.
#
# Prints `ready DIR/docker.sock` once the engine answers, then serves until its standard input
# ends or it gets SIGTERM, SIGINT or SIGHUP: everything the engine runs is killed, DIR is
# removed, and it exits 0. When the engine dies it does the same and exits 1. DIR/address holds
# the address at which the engine's published ports answer, DIR/gateway this machine's own as
# the engine's containers reach it.
#
# The engine has namespaces of its own for processes, mounts and the network: its bridges,
# packet filter rules and published ports never meet the machine's, another engine's or another
# run's, and the kernel ends every process, mount and interface of it with its first process.
# All that it makes outside of them is DIR and its cgroups.
#
# While DIR/away exists the end of the daemon alone is no end of the engine: see inside.sh.
#
# Nothing outlives the caller however that dies: a pipe that only the caller holds open ends
# with it. Should this script itself be killed, the kernel kills the engine, and the next
# serve.sh removes DIR and the cgroups if DIR is named kibotos-engine-* and lies beside its own.
#
# Start it with setsid, or Ctrl-C in the caller's terminal reaches the engine first.
set -euo pipefail
umask 077

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../fixture/served.sh
source "$here/../fixture/served.sh"
start_within=60 # seconds

# The engine runs with the standard input of a background command, so keep the caller's apart.
exec 3<&0 </dev/null
# A caller that died cannot read what is written to it; that must not stop the cleaning.
trap '' PIPE

say() { echo "serve.sh: $*" >&2 || true; }

# The name of the engine's cgroup and of its link to the machine, which can be told from DIR
# alone. A link's name may have 15 characters.
name_of() { sha256sum <<<"$1" | cut -c1-12; }

# Removes what an engine without processes left outside of its namespaces.
remove() {
  local name cgroup try container
  name=$(name_of "$1")
  # It would go by itself a little later, with the network namespace at its other end.
  ip link delete "kbt$name" 2>/dev/null || true
  for cgroup in /sys/fs/cgroup{,/*}/"kibotos-engine-$name"; do
    # A cgroup stays busy a little longer than its last process.
    for ((try = 0; try < 100; try++)); do
      [[ -d $cgroup ]] || break
      find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.02
    done
    [[ ! -d $cgroup ]] || say "$cgroup cannot be removed"
  done
  # Podman has one for each container, whose id alone tells it from others'.
  for container in "$1"/data/*-containers/*/; do
    container=$(basename "$container")
    find /sys/fs/cgroup{,/*}/libpod_parent/libpod-{,conmon-}"$container" -depth -type d \
      -exec rmdir {} + 2>/dev/null || true
  done
  rm -rf "$1"
}

engine=

# Whether the engine is still there: the number of a process that ended may be someone else's
# by now, so only what the shell itself still waits for counts.
runs() { [[ -n $engine ]] && grep --quiet --line-regexp "$engine" <<<"$(jobs -rp)"; }

# Starts an engine that the kernel kills when this script dies. Should the script die before the
# engine has asked for that, the engine finds itself with another parent and ends.
#
# Mounts that the machine makes later appear to the engine, never the other way round.
start() {
  # shellcheck disable=SC2016
  setpriv --pdeathsig KILL bash -c '[[ $PPID == "$1" ]] && shift && exec "$@"' dockerd "$$" \
    unshare --mount --propagation slave --pid --fork --kill-child=KILL --mount-proc --net \
    bash "$here/$first" "$dir" "kibotos-engine-$name" >dockerd.log 2>&1 &
  engine=$!
  eventually has_init
  link
}

# The engine's first process, as this machine counts.
has_init() {
  init=$(pgrep --parent "$engine") && [[ ! /proc/$init/ns/net -ef /proc/self/ns/net ]]
}

# A wire between the machine and the engine's network: two addresses out of the range that is
# set aside for tests of networks, 198.18.0.0/15, that no one here has.
link() {
  local subnet try
  for ((try = 0; try < 100; try++)); do
    subnet=198.$((18 + RANDOM % 2)).$((RANDOM % 256))
    host=$((RANDOM % 64 * 4))
    [[ -z $(ip -4 route show "$subnet.$host/30") ]] || continue
    ip link add "kbt$name" type veth peer name eth0 netns "$init"
    ip address add "$subnet.$((host + 1))/30" dev "kbt$name"
    ip link set "kbt$name" up
    # Another run may have chosen the same at the same time; then both try again.
    if (($(ip -oneline -4 address show to "$subnet.$host/30" | wc -l) == 1)); then
      echo "$subnet.$((host + 1))" >gateway
      # Its appearance is what inside.sh waits for, so it must be whole.
      echo "$subnet.$((host + 2))" >address.starting
      mv address.starting address
      return
    fi
    ip link delete "kbt$name"
  done
  say "there is no free subnet in 198.18.0.0/15"
  exit 1
}

# SIGKILL to its first process, for nothing is worth keeping: that one is gone only after all
# others of its namespace are.
kill_engine() {
  [[ -n $engine ]] || return 0
  if runs; then
    pkill -KILL --parent "$engine" || kill -KILL "$engine" || true
  fi
  wait "$engine" || true
}

clean() {
  local status=$?
  trap '' TERM INT HUP
  kill_engine 2>/dev/null # the shell's remarks on killed jobs
  cd /
  remove "$dir"
  exit "$status"
}

show_log() {
  say "the end of dockerd.log:"
  tail -n 20 dockerd.log >&2 || true
}

# Waits until a command succeeds. Ends the script when the engine dies.
eventually() {
  until "$@" >/dev/null 2>wait.log; do
    if ! runs; then
      say "the engine ended at once"
    elif ((SECONDS > start_within)); then
      say "not ready after $start_within s: $*: $(<wait.log)"
    else
      pause 0.05
      continue
    fi
    show_log
    exit 1
  done
}

# By a relative path, as the path of a socket may have 107 characters at most.
answers() {
  curl --disable --silent --show-error --fail --max-time 2 --unix-socket docker.sock \
    http://docker/_ping
}

# A function, so that the whole script is read before any of it runs: it may be edited while it
# serves.
main() {
  (($# == 1)) || [[ $# == 2 && $2 == podman ]] || {
    say "usage: serve.sh DIR [podman]"
    exit 2
  }
  first=inside.sh
  local needs=(dockerd containerd)
  # podman.sh says so.
  (($# == 1)) || first=inside-podman.sh needs=(podman)
  ((UID == 0)) || {
    say "only root can start a Docker Engine; or set KIBOTOS_TEST_DOCKER to one that runs"
    exit 1
  }
  local program
  for program in "${needs[@]}" ip unshare curl; do
    type -P "$program" >/dev/null || {
      say "$program is missing; on Debian: apt-get install docker.io iproute2 util-linux curl"
      exit 1
    }
  done
  dir=$(realpath --canonicalize-missing "$1")
  [[ $dir != /run/* ]] || {
    say "DIR must not lie in /run, which the engine has for itself"
    exit 2
  }
  name=$(name_of "$dir")
  SECONDS=0
  claim "$dir"
  trap clean EXIT
  trap 'exit 0' TERM INT HUP
  sweep "$dir" kibotos-engine- say name_of remove
  cd "$dir"
  start
  eventually answers
  echo "ready $dir/docker.sock" || true

  while runs; do
    pause 0.5
  done
  say "the engine died"
  show_log
  exit 1
}

main "$@"
