#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The life of a gate, on jobs that the example generator makes: a first baseline, the same program again, a
# regression, its repair, and another machine. Each step says which exit status it expects; the first that is
# another ends the script.
#
#   examples/ci/story.sh FOLDER    # dladvisor and data-parallel on PATH; FOLDER is made anew
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 3; }
rm -rf "$1"
mkdir -p "$1"
cd "$1"

# Three runs of a program on a node of two GPUs; in the slow one the host of rank 1 launches late.
runs() {  # runs NAME FIRST_SEED GPUS [OPTION...]
  local name=$1 seed=$2 gpus=$3 i
  shift 3
  for i in 1 2 3; do
    data-parallel --nodes 1 --gpus "$gpus" --steps 60 --kernels 60 --program 1 --seed $((seed + i)) "$@" -o "$name/$i"
  done
}
runs main 0 2
runs again 10 2
runs slow 20 2 --plant launches --rank 1 --share 0.3
runs repaired 30 2
runs larger 40 4

step() {  # step STATUS TITLE ARGUMENT...
  local expected=$1 title=$2 status=0
  shift 2
  printf '\n== %s\n$ dladvisor gate %s\n' "$title" "$*"
  dladvisor gate "$@" || status=$?
  [ "$status" -eq "$expected" ] || { echo "exit status $status, not $expected" >&2; exit 1; }
}

step 2 "There is no baseline yet" --baseline main.baseline main/1 main/2 main/3
step 0 "These runs become it" --baseline main.baseline --update main/1 main/2 main/3
step 0 "The same program passes" --baseline main.baseline again/1 again/2 again/3
step 1 "A regression fails, and its cause is named" --baseline main.baseline --junit gate.xml --sarif gate.sarif \
  --markdown gate.md --html gate.html --json gate.json slow/1 slow/2 slow/3
step 0 "Had it been merged, the repair would be an improvement" --baseline slow/1 --baseline slow/2 \
  --baseline slow/3 repaired/1 repaired/2 repaired/3
step 2 "Twice the GPUs are another thing" --baseline main.baseline larger/1 larger/2 larger/3
