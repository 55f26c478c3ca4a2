#!/usr/bin/env bash
# The layers of the code: each folder may include only the folders listed for it. Linking enforces most of it;
# this also catches headers that are used without linking.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
allow() {  # allow FOLDER ALLOWED...: includes of other folders of this repository are errors
  local folder=$1 file line target
  shift
  while IFS=: read -r file line target; do
    for allowed in "$folder" "$@"; do
      [ "$(dirname "$target")" = "$allowed" ] && continue 2
    done
    echo "$file:$line: $folder must not include $target"
    status=1
  done < <(grep -nE '^#include "(engine|src)/' "$folder"/*.h "$folder"/*.cc 2>/dev/null |
    sed -E 's/^([^:]*:[0-9]+):#include "([^"]*)".*/\1:\2/')
}
allow engine/base
allow engine engine/base
allow src/trace engine engine/base
allow src/importers/bytes engine/base
allow src/importers/kineto src/importers/bytes src/trace engine/base
allow src/importers/nsys src/trace engine/base
allow src/importers/nvidia_smi src/importers/bytes src/trace engine/base
allow src/importers/training_log src/importers/bytes src/importers/nvidia_smi src/trace engine/base
allow src/importers src/importers/bytes src/importers/kineto src/importers/nsys src/importers/nvidia_smi \
  src/importers/training_log src/trace engine/base
allow src/analysis src/trace engine engine/base
allow src/fleet src/analysis src/importers src/trace engine engine/base
allow src/report engine engine/base
allow src/gate src/report engine engine/base
allow src/cli src/fleet src/gate src/report src/analysis src/importers src/trace engine engine/base
exit "$status"
