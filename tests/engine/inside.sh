#!/usr/bin/env bash
# The first process in the namespaces of serve.sh's engine: whatever it ends of, the kernel kills
# all others there.
#
# Usage: inside.sh DIR CGROUP, by serve.sh. Descriptor 3 is the caller's pipe.
set -euo pipefail

# Runs the daemon. While DIR/away is there its end is no end of the engine: DIR/resting appears, and
# it runs again once DIR/away is removed, and finds the containers, shims and files of the one before, as on a real host.
serve() {
  while true; do
    # Of the environment nothing: a proxy that it names has no way to this network.
    env -i PATH="$PATH" dockerd --config-file daemon.json --data-root "$dir/data" \
      --exec-root "$dir/exec" --pidfile "$dir/dockerd.pid" --host "unix://$dir/docker.sock" \
      --group root --storage-driver "$driver" --iptables="$rules" --ip6tables=false \
      --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$cgroup" \
      --insecure-registry 198.18.0.0/15 --log-level warn || true
    [[ -e away ]] || return 0
    touch resting
    while [[ -e away ]]; do sleep 0.02; done
    rm resting
  done
}

main() {
  local dir=$1 cgroup=$2 driver=vfs rules=false
  cd "$dir"

  # Sockets of containerd and its shims have fixed paths in /run, as has the packet filter's lock.
  mount -t tmpfs -o mode=0755 tmpfs /run

  until [[ -e address ]]; do sleep 0.02; done
  ip link set lo up
  ip address add "$(<address)/30" dev eth0
  ip link set eth0 up
  ip route add default via "$(<gateway)"

  # A name server that refuses at once, where the machine's is out of reach.
  echo "nameserver $(<gateway)" >resolv.conf
  ! [[ -e /etc/resolv.conf ]] || mount --bind resolv.conf "$(realpath /etc/resolv.conf)"

  mkdir probe probe/{lower,upper,work,merged}
  ! mount -t overlay -o lowerdir=probe/lower,upperdir=probe/upper,workdir=probe/work overlay \
    probe/merged || driver=overlay2
  # Without rules published ports still answer, by way of the engine's proxy.
  ! iptables --wait --table nat --list-rules >/dev/null || rules=true
  # The machine's own daemon.json is not this engine's. Docker up to 24 writes a key, into /etc
  # unless told otherwise, and later ones do not know the option.
  echo '{}' >daemon.json
  ! grep --quiet --text deprecated-key-path "$(type -P dockerd)" ||
    echo "{\"deprecated-key-path\": \"$dir/key.json\"}" >daemon.json

  serve 3<&- &
  # Should serve.sh have been killed before it was this process's parent in the kernel's eyes.
  { cat <&3 >/dev/null || true; } &
  wait -n
}

main "$@"
