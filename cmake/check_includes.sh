#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes follow the links: a folder may include headers of the folders that its library links itself.
# check_includes.sh FOLDERS, where FOLDERS is what the build writes: lines of FOLDER LIBRARY LINKED...
set -euo pipefail
folders=$(realpath "$1")
cd "$(dirname "$0")/.."
for folder in $(cut -d ' ' -f 1 "$folders"); do
  grep -noE '^#include "(engine|src)/[^"]*"' /dev/null "$folder"/*.h "$folder"/*.cc 2>/dev/null || true
done | awk -v folders="$folders" '
  function parent(path) { sub(/\/[^\/]*$/, "", path); return path }
  BEGIN {
    while ((getline line < folders) > 0) {
      split(line, words, " ")
      folder_of[words[2]] = words[1]
      links[words[1]] = line
    }
    for (folder in links) {
      may[folder, folder] = 1
      n = split(links[folder], words, " ")
      for (i = 3; i <= n; ++i) if (words[i] in folder_of) may[folder, folder_of[words[i]]] = 1
    }
  }
  {
    split($0, part, ":")
    target = $0
    gsub(/^[^"]*"|"$/, "", target)
    if (!((parent(part[1]), parent(target)) in may)) {
      printf "%s:%s: %s must not include %s: link its library, or move one of the two\n", part[1], part[2], parent(part[1]), target
      failed = 1
    }
  }
  END { exit failed }'
