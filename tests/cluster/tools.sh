#!/usr/bin/env bash
# Prints the directory that holds etcd (named `server`), kube-apiserver,
# kube-controller-manager and kubectl, and builds them first where they are
# missing: from Go modules alone, some minutes once for each change of the recipe.
#
# Usage: tools.sh        KIBOTOS_CACHE says where builds are kept.
set -euo pipefail

kubernetes=$(cd "$(dirname "${BASH_SOURCE[0]}")/kubernetes" && pwd)
version=1.36.3
packages=(
  go.etcd.io/etcd/server/v3
  k8s.io/kubernetes/cmd/kube-apiserver
  k8s.io/kubernetes/cmd/kube-controller-manager
  k8s.io/kubernetes/cmd/kubectl
)
# Without its version the API server calls itself v0.0.0-master, and Helm's checks of the
# Kubernetes version then fail.
link="-s -w -X k8s.io/component-base/version.gitVersion=v$version"
link+=" -X k8s.io/component-base/version.gitMajor=${version%%.*}"
link+=" -X k8s.io/component-base/version.gitMinor=$(cut -d. -f2 <<<"$version")"

recipe=$({
  cat "$kubernetes/go.mod" "$kubernetes/go.sum"
  printf '%s\n' "$link" "${packages[@]}"
} | sha256sum | cut -c1-12)
cache=${KIBOTOS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kibotos}
tools=$cache/cluster-$recipe

if [[ ! -d $tools ]]; then
  mkdir -p "$cache"
  # The lock is the kernel's, so it goes with a killed build; whoever waited for it finds
  # the work done.
  exec 9>"$cache/cluster-$recipe.lock"
  flock 9
  if [[ ! -d $tools ]]; then
    echo "building Kubernetes $version for the tests, once, in some minutes…" >&2
    unfinished=$tools.unfinished
    rm -rf "$unfinished"
    mkdir "$unfinished"
    (cd "$kubernetes" && CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "$link" \
      -o "$unfinished/" "${packages[@]}") >&2
    # Only a rename makes the directory appear: half a build is never taken for a whole one.
    mv -T "$unfinished" "$tools"
  fi
fi
echo "$tools"
