#!/usr/bin/env bash
# The first process in the namespaces of podman.sh's engine, as inside.sh is of serve.sh's.
#
# Usage: inside-podman.sh DIR, by serve.sh. Descriptor 3 is the caller's pipe. The cgroup that serve.sh
# names beside it is not used: Podman has one for each container.
set -euo pipefail

main() {
  local dir=$1 directory driver=vfs
  cd "$dir"

  # What Podman and its network plugins keep at fixed paths, the machine's own Podman keeps there
  # too. /run has the sockets and the packet filter's lock, /dev/shm the locks of containers.
  mount -t tmpfs -o mode=0755 tmpfs /run
  mount -t tmpfs -o mode=1777 tmpfs /dev/shm
  for directory in /var/lib/cni /etc/cni/net.d; do
    mkdir -p "$directory" "$dir/fixed$directory"
    mount --bind "$dir/fixed$directory" "$directory"
  done

  until [[ -e address ]]; do sleep 0.02; done
  ip link set lo up
  ip address add "$(<address)/30" dev eth0
  ip link set eth0 up
  ip route add default via "$(<gateway)"
  echo "nameserver $(<gateway)" >resolv.conf
  ! [[ -e /etc/resolv.conf ]] || mount --bind resolv.conf "$(realpath /etc/resolv.conf)"

  mkdir probe probe/{lower,upper,work,merged}
  ! mount -t overlay -o lowerdir=probe/lower,upperdir=probe/upper,workdir=probe/work overlay \
    probe/merged || driver=overlay

  # The machine's own settings are not this engine's.
  cat >storage.conf <<TOML
[storage]
driver = "$driver"
graphroot = "$dir/data"
runroot = "$dir/exec"
TOML
  echo 'unqualified-search-registries = ["docker.io"]' >registries.conf
  env -i PATH="$PATH" HOME="$dir" TMPDIR=/tmp CONTAINERS_CONF=/dev/null \
    CONTAINERS_STORAGE_CONF="$dir/storage.conf" CONTAINERS_REGISTRIES_CONF="$dir/registries.conf" \
    podman --tmpdir "$dir/tmp" --cgroup-manager cgroupfs --events-backend file --log-level warn \
    system service --time 0 "unix://$dir/docker.sock" 3<&- &
  # Should serve.sh have been killed before it was this process's parent in the kernel's eyes.
  { cat <&3 >/dev/null || true; } &
  wait -n
}

main "$@"
