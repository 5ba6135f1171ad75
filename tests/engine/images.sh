#!/usr/bin/env bash
# Makes the images that tests run, from this machine's busybox alone, and gives them to an
# engine. The same machine always makes the same bytes, so doing it again changes nothing.
#
# Usage: images.sh SOCKET
#
# kibotos.test/busybox:1  busybox with a root file system around it, and no settings at all
# kibotos.test/entry:1    the same, with every setting that an image can have
set -euo pipefail

socket=$(realpath "$1")
busybox=/bin/busybox
! ldd "$busybox" >/dev/null 2>&1 || {
  echo "images.sh: $busybox needs libraries; on Debian: apt-get install busybox-static" >&2
  exit 1
}
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
cd "$work"
archive=(tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner)

# The files that images of people have, and one below the path that entry:1 declares a volume:
# the engine copies it into a fresh one.
root() {
  mkdir -p root/{bin,dev,etc,image-data,proc,sys,usr/local/etc,var,w}
  mkdir -m 1777 root/tmp
  cp "$busybox" root/bin/busybox
  chmod 755 root/bin/busybox
  local applet
  for applet in $("$busybox" --list); do
    [[ $applet == busybox ]] || ln -s busybox "root/bin/$applet"
  done
  printf '%s\n' root:x:0:0:root:/:/bin/sh app:x:1000:1000:app:/w:/bin/sh >root/etc/passwd
  printf '%s\n' root:x:0: audio:x:29: app:x:1000: >root/etc/group
  echo image >root/image-data/from-image
}

# One image of the layer, by its settings as Docker keeps them.
image() {
  local name=$1 settings=$2
  cat >"$name.json" <<JSON
{"architecture":"$architecture","os":"linux","created":"1970-01-01T00:00:00Z","config":$settings,
"rootfs":{"type":"layers","diff_ids":["sha256:$layer"]},
"history":[{"created":"1970-01-01T00:00:00Z","created_by":"kibotos tests"}]}
JSON
  images+=("{\"Config\":\"$name.json\",\"RepoTags\":[\"kibotos.test/$name:1\"],\"Layers\":[\"layer.tar\"]}")
}

(umask 022 && root)
"${archive[@]}" --directory root --file layer.tar .
layer=$(sha256sum layer.tar | cut -d' ' -f1)
case $(uname -m) in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *) architecture=$(uname -m) ;;
esac
images=()
path='"PATH=/bin"'
image busybox "{\"Env\":[$path]}"
image entry "{
  \"Entrypoint\":[\"/bin/busybox\"],\"Cmd\":[\"sh\",\"-c\",\"echo image\"],
  \"Env\":[$path,\"A=image\",\"B=image\"],\"Labels\":{\"of\":\"image\",\"kept\":\"image\"},
  \"ExposedPorts\":{\"8080/tcp\":{}},\"Volumes\":{\"/image-data\":{}},
  \"WorkingDir\":\"/w\",\"User\":\"1000\",\"StopSignal\":\"SIGINT\",
  \"Healthcheck\":{\"Test\":[\"CMD\",\"/bin/true\"],\"Interval\":3600000000000,\"Retries\":7}
}"
(IFS=, && echo "[${images[*]}]") >manifest.json

said=$("${archive[@]}" manifest.json busybox.json entry.json layer.tar |
  curl --disable --silent --show-error --fail-with-body --max-time 60 --unix-socket "$socket" \
    --header Content-Type:application/x-tar --data-binary @- \
    'http://docker/images/load?quiet=1')
# Whatever goes wrong after the first byte, the status is 200.
[[ $said != *'"error'* ]] || {
  echo "images.sh: $said" >&2
  exit 1
}
