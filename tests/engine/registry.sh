#!/usr/bin/env bash
# Serves a registry of images for as long as its caller lives.
#
# Usage: registry.sh DIR ADDRESS
#
# DIR must not exist yet; all images are kept in it. Prints `ready PLAIN LOCKED`, two places
# ADDRESS:PORT where the same images are: the one takes and gives without a login, the other
# wants that of the user kim with the password s3cret-word. It ends, and removes DIR, when its
# standard input ends or it gets SIGTERM, SIGINT or SIGHUP.
set -euo pipefail
umask 077

exec 3<&0 </dev/null
trap '' PIPE

say() { echo "registry.sh: $*" >&2 || true; }

config() {
  cat <<YAML
version: 0.1
log: {level: info, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: $PWD/images}, delete: {enabled: true}}
http: {addr: '$address:0', secret: tests}
$1
YAML
}

# The kernel chooses the port, and the log tells it.
serve() {
  local name=$1
  # Should this script itself be killed, the kernel kills them with it.
  env -i PATH="$PATH" setpriv --pdeathsig KILL docker-registry serve "$name.yml" 3<&- \
    >"$name.log" 2>&1 &
  servers+=($!)
  until place=$(grep --only-matching --max-count=1 "listening on [0-9.:]*" "$name.log" 2>/dev/null); do
    if ! kill -0 "${servers[-1]}" 2>/dev/null || ((SECONDS > 60)); then
      say "docker-registry does not serve:"
      cat "$name.log" >&2
      exit 1
    fi
    pause 0.05
  done
  place=${place#listening on }
}

pause() {
  local status=0
  read -r -t "$1" -u 3 || status=$?
  ((status != 1)) || exit 0 # end of file; more than 128: the time is up
}

clean() {
  local status=$?
  trap '' TERM INT HUP
  {
    kill -KILL "${servers[@]}" || true
    wait || true
  } 2>/dev/null # the shell's remarks on killed jobs
  cd /
  rm -rf "$dir"
  exit "$status"
}

main() {
  (($# == 2)) || {
    say "usage: registry.sh DIR ADDRESS"
    exit 2
  }
  type -P docker-registry >/dev/null || {
    say "docker-registry is missing; on Debian: apt-get install docker-registry"
    exit 1
  }
  dir=$(realpath --canonicalize-missing "$1") address=$2 servers=() SECONDS=0
  mkdir "$dir"
  trap clean EXIT
  trap 'exit 0' TERM INT HUP
  cd "$dir"
  # Made with `htpasswd -nbB`.
  cat >users <<'LOGIN'
kim:$2y$05$AY431.TWFPpmr5dshzx31uPVsSJM62BzCoUXOaneqSWpi0Gn.T6Wm
LOGIN
  config '' >plain.yml
  config "auth: {htpasswd: {realm: tests, path: $dir/users}}" >locked.yml
  local place
  serve plain
  local plain=$place
  serve locked
  echo "ready $plain $place" || true
  while kill -0 "${servers[@]}" 2>/dev/null; do
    pause 0.5
  done
  say "a registry died"
  exit 1
}

main "$@"
