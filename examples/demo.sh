#!/usr/bin/env bash
# Shows what works so far, on a real Kubernetes API server of its own that is gone afterwards.
#
# Usage: demo.sh        `make demo` sees to what it needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n# %s\n' "$*"; }
# Shows a command as it would be typed, and what it answers.
show() {
  printf '$ %s\n' "$*"
  eval "$*"
}

kibotos() { cargo run --locked --quiet -- "$@"; }
kubectl() {
  KUBERC=off "$tools/kubectl" --kubeconfig "$state/kubeconfig" --cache-dir "$state/kubectl-cache" \
    "$@"
}

# A new kind is served, and explained, some moments after its definition was accepted.
soon() {
  local give_up=$((SECONDS + 30))
  until "$@" &>/dev/null; do
    ((SECONDS < give_up)) || "$@" || exit 1
    sleep 0.2
  done
}

# The server lives as long as the pipe to it is open.
clean() {
  exec {lifeline}>&- || true
  wait "$server" || true
}

tools=$(bash tests/cluster/tools.sh)
cargo build --locked

say "A Kubernetes API server, for this demo alone."
state=${TMPDIR:-/tmp}/kibotos-api-demo-$$
coproc SERVER { exec setsid bash tests/cluster/serve.sh "$state"; }
server=$SERVER_PID ready=${SERVER[0]} lifeline=${SERVER[1]}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# It says by itself why there is no such line.
read -r _ <&"$ready" || exit 1
kubectl version | sed -n 's/^Server Version: /Kubernetes /p'

say "Kibotos adds its kinds to it."
show "kibotos crds | kubectl apply --server-side -f -"
soon kubectl get kibotos
soon kubectl explain workspace

say "The examples: what one would start with docker run, as manifests."
show "kubectl apply -f examples/"

say "No controller runs yet, so the Workspaces are stored and checked, and stay without a phase."
show "kubectl get ws -o wide"

say "What a host's engine will be sent for one of them can be seen offline."
show "kibotos render --output yaml -f examples/nginx.yaml"

say "Every field is documented where Kubernetes users look."
show "kubectl explain workspace.spec.writableLayer"

say "What cannot work is refused when it is applied, with the field and what to change."
cat >"$state/two-on-one-path.yaml" <<'YAML'
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata:
  name: two-on-one-path
spec:
  container:
    image: nginx
    binds: ["/srv/www:/usr/share/nginx/html"]
    tmpfs: {/usr/share/nginx/html: ""}
YAML
cd "$state"
show "cat two-on-one-path.yaml"
show "kubectl apply -f two-on-one-path.yaml 2>&1" && {
  say "That should have been refused."
  exit 1
}
say "That is all so far."
