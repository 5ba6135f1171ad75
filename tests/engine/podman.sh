#!/usr/bin/env bash
# Serves Podman where serve.sh serves Docker: its Docker-compatible socket, with storage, network and
# processes of its own, for as long as its caller lives. See serve.sh for all else.
#
# Usage: podman.sh DIR
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec bash "$here/serve.sh" "$1" podman
