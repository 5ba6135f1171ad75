#!/usr/bin/env bash
# Serves a real Kubernetes API, without nodes, for as long as its caller lives.
#
# Usage: serve.sh DIR [CRD-FILE...]
#
# DIR must not exist yet; every bit of state is kept in it. The CRDs are installed before the
# controllers start: those that follow every kind there is, like the garbage collector, look
# for new kinds only every 30 s.
#
# Prints `ready DIR/kubeconfig` (an administrator's) once the API works, then serves until
# its standard input ends or it gets SIGTERM, SIGINT or SIGHUP: the servers are killed, DIR
# is removed, and it exits 0. When a server dies it does the same and exits 1.
#
# Nothing outlives the caller however that dies: a pipe that only the caller holds open ends
# with it. Should this script itself be killed, the kernel kills the servers, and the next
# serve.sh removes DIR if that is named kibotos-api-* and lies beside its own.
#
# Start it with setsid, or Ctrl-C in the caller's terminal reaches the servers first.
# KIBOTOS_FSYNC=1 makes etcd write through to the disk, as a measurement needs it.
set -euo pipefail
umask 077

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../fixture/served.sh
source "$here/../fixture/served.sh"
start_within=60 # seconds, for all servers together
controllers=(
  clusterrole-aggregation-controller
  garbage-collector-controller
  namespace-controller
  resourcequota-controller
  root-ca-certificate-publisher-controller
  serviceaccount-controller
  serviceaccount-token-controller
  validatingadmissionpolicy-status-controller
)

# Children run with the standard input of a background command, so keep the caller's apart.
exec 3<&0 </dev/null
# A caller that died cannot read what is written to it; that must not stop the cleaning.
trap '' PIPE

say() { echo "serve.sh: $*" >&2 || true; }

remove() { rm -rf "$1"; }

# A port that no one listens on, outside the range the kernel takes ports of clients from
# unless that leaves next to none.
free_port() {
  local low high port try
  read -r low high </proc/sys/net/ipv4/ip_local_port_range
  for ((try = 0; ; try++)); do
    port=$((10240 + RANDOM))
    ((port < low || port > high || try > 100)) || continue
    (exec 4<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

make_credentials() {
  cat >openssl.conf <<'CONF'
[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
[server]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1, IP:10.0.0.1, DNS:localhost, DNS:kubernetes.default.svc
CONF
  local key
  for key in ca apiserver sa; do
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$key.key"
  done
  openssl pkey -in sa.key -pubout -out sa.pub
  local certificate=(openssl req -x509 -config openssl.conf -days 30)
  "${certificate[@]}" -subj /CN=kibotos-tests-ca -extensions ca -key ca.key -out ca.crt
  "${certificate[@]}" -subj /CN=kube-apiserver -extensions server -CA ca.crt -CAkey ca.key \
    -key apiserver.key -out apiserver.crt
  # Tokens go from file to file: anyone may read the arguments of a process.
  openssl rand -hex 32 >token
  echo "Authorization: Bearer $(<token)" >header
  echo "$(<token),admin,admin,\"system:masters\"" >tokens.csv
}

write_kubeconfig() {
  cat >"$1" <<YAML
apiVersion: v1
kind: Config
current-context: kibotos-tests
contexts:
- name: kibotos-tests
  context: {cluster: kibotos-tests, user: admin}
clusters:
- name: kibotos-tests
  cluster:
    server: https://127.0.0.1:$port
    certificate-authority-data: $(base64 -w0 <ca.crt)
users:
- name: admin
  user: {token: $(<token)}
YAML
}

declare -A servers=()

# Starts a server that the kernel kills when this script dies. Should the script die before
# the server has asked for that, the server finds itself with another parent and ends.
serve() {
  local name=$1
  shift
  # shellcheck disable=SC2016
  setpriv --pdeathsig KILL bash -c '[[ $PPID == "$1" ]] && shift && exec "$@"' "$name" \
    "$$" "$@" 3<&- >"$name.log" 2>&1 &
  servers[$name]=$!
}

# Whether a process is still the one that was started: the number of one that ended may be
# someone else's by now, so only what the shell itself still waits for counts.
runs() { grep --quiet --line-regexp "$1" <<<"$(jobs -rp)"; }

# SIGKILL, for nothing is worth keeping, and asked to end an API server holds its port for
# many seconds.
kill_servers() {
  local pid
  for pid in "${servers[@]}"; do
    ! runs "$pid" || kill -KILL "$pid" || true
  done
  wait 2>/dev/null || true
  servers=()
}

clean() {
  local status=$?
  trap '' TERM INT HUP
  kill_servers 2>/dev/null # the shell's remarks on killed jobs
  cd /
  remove "$dir"
  exit "$status"
}

# Names a server that is no longer there.
dead_server() {
  local name
  for name in "${!servers[@]}"; do
    runs "${servers[$name]}" || {
      echo "$name"
      return
    }
  done
  return 1
}

show_logs() {
  local log
  for log in "$@"; do
    say "the end of $log:"
    tail -n 20 "$log" >&2 || true
  done
}

# Waits until a command succeeds. Fails when a server dies.
eventually() {
  until "$@" >/dev/null 2>wait.log; do
    ! dead_server >/dev/null || return 1
    if ((SECONDS > start_within)); then
      say "not ready after $start_within s: $*: $(<wait.log)"
      show_logs ./*.log
      exit 1
    fi
    pause 0.05
  done
}

answers() {
  curl --disable --noproxy '*' --silent --show-error --fail --max-time 2 \
    --cacert ca.crt --header @header "https://127.0.0.1:$port$1"
}

kubectl() {
  KUBERC=off "$tools/kubectl" --kubeconfig kubeconfig.starting --cache-dir kubectl-cache "$@"
}

install() {
  (($# > 0)) || return 0
  kubectl apply --server-side --field-manager kibotos-tests "${@/#/--filename=}" \
    >crds.log 2>&1 || {
    show_logs crds.log
    exit 1
  }
  local kinds
  kinds=$(kubectl get crds --output name | cut -d/ -f2 | paste -sd,) || exit 1
  # That a CRD is established says neither that its kind is served nor that clients find it.
  eventually kubectl wait crds --all --for condition=Established --timeout 1s &&
    eventually kubectl get "$kinds" --all-namespaces
}

# etcd listens on sockets, which DIR keeps from everyone else and which no port can collide
# with. They are named relative to DIR, as the path of a socket may have 107 characters at
# most, and as host:port, as etcd insists on.
start() {
  local client=unix://etcd-client:0 peer=unix://etcd-peer:0
  port=$(free_port)
  rm -rf etcd etcd-*
  write_kubeconfig kubeconfig.starting
  local sync=(--unsafe-no-fsync)
  [[ ${KIBOTOS_FSYNC:-} != 1 ]] || sync=()
  serve etcd "$tools/server" --data-dir="$dir/etcd" "${sync[@]}" --log-level=warn \
    --listen-client-urls=$client --advertise-client-urls=$client --listen-peer-urls=$peer \
    --initial-advertise-peer-urls=$peer --initial-cluster=default=$peer
  serve kube-apiserver "$tools/kube-apiserver" --etcd-servers=$client \
    --bind-address=127.0.0.1 --secure-port="$port" \
    --tls-cert-file="$dir/apiserver.crt" --tls-private-key-file="$dir/apiserver.key" \
    --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$dir/sa.pub" --service-account-signing-key-file="$dir/sa.key" \
    --service-cluster-ip-range=10.0.0.0/24 --endpoint-reconciler-type=none \
    --token-auth-file="$dir/tokens.csv" --anonymous-auth=false --authorization-mode=RBAC \
    --allow-privileged=true --enable-priority-and-fairness=false --profiling=false
  eventually answers /readyz && install "${crds[@]}" || return 1
  # Of its controllers those that have work where no pod ever runs, and with room for many
  # tests at once.
  serve kube-controller-manager "$tools/kube-controller-manager" \
    --kubeconfig="$dir/kubeconfig.starting" --leader-elect=false --secure-port=0 \
    --service-account-private-key-file="$dir/sa.key" --root-ca-file="$dir/ca.crt" \
    --use-service-account-credentials=true --profiling=false \
    --controllers="$(IFS=, && echo "${controllers[*]}")" \
    --kube-api-qps=1000 --kube-api-burst=2000 --concurrent-namespace-syncs=20
  # Made by a controller, so it shows that namespaces are being looked after.
  eventually answers /api/v1/namespaces/default/serviceaccounts/default
}

# A function, so that the whole script is read before any of it runs: it may be edited while it
# serves.
main() {
  (($# >= 1)) || {
    say "usage: serve.sh DIR [CRD-FILE...]"
    exit 2
  }
  dir=$(realpath --canonicalize-missing "$1")
  shift
  crds=()
  local crd gone attempts=5
  for crd in "$@"; do
    crds+=("$(realpath "$crd")")
  done
  tools=$(bash "$here/tools.sh")
  SECONDS=0
  claim "$dir"
  trap clean EXIT
  trap 'exit 0' TERM INT HUP
  sweep "$dir" kibotos-api- remove
  cd "$dir"
  make_credentials
  until start; do
    gone=$(dead_server)
    if ((--attempts == 0)) || ! grep --quiet "address already in use" "$gone.log"; then
      say "$gone ended at once"
      show_logs "$gone.log"
      exit 1
    fi
    say "port $port was taken meanwhile, trying another"
    kill_servers 2>/dev/null
  done
  mv kubeconfig.starting kubeconfig
  echo "ready $dir/kubeconfig" || true

  until gone=$(dead_server); do
    pause 0.5
  done
  say "$gone died"
  show_logs "$gone.log"
  exit 1
}

main "$@"
