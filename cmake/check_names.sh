#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Code is found by its name: a source has the header of its name beside it, and no two headers have one name.
# Without a header are the programs and the relations that no other source uses (src/analysis/families.def lists them).
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
while read -r source; do
  [ -e "${source%.cc}.h" ] || grep -q '^const Family& [A-Za-z]*Family() {' "$source" || {
    echo "$source: declare what others use of it in ${source%.cc}.h, or make it part of the source that it belongs to"
    failed=1
  }
done < <(find engine src -name '*.cc' ! -path src/main.cc ! -path 'src/compile_*.cc' | sort)
while read -r name; do
  echo "$(find engine src -name "$name" | sort | paste -sd ' '): call each after what is in it"
  failed=1
done < <(find engine src -name '*.h' -printf '%f\n' | sort | uniq -d)
exit "$failed"
