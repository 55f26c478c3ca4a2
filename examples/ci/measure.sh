#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Profiles two checkouts in turn, A B B A, so that what drifts on the machine drifts for both alike:
#   measure.sh BASE HEAD OUT PAIRS COMMAND...
# COMMAND runs in each checkout and writes a profile to the file that $PROFILE names: OUT/base/1.sqlite,
# OUT/head/1.sqlite, OUT/base/2.sqlite, ... Set ENDING for another than .sqlite, e.g. ENDING=.json.gz.
set -euo pipefail
[ $# -ge 5 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 3; }
base=$(realpath "$1")
head=$(realpath "$2")
mkdir -p "$3/base" "$3/head"
out=$(realpath "$3")
pairs=$4
shift 4
ending=${ENDING:-.sqlite}

# Caches fill and code is compiled in the first run of each side, which does not count.
for run in warm-up $(seq "$pairs"); do
  sides="base head"
  if [[ $run =~ ^[0-9]*[02468]$ ]]; then sides="head base"; fi
  for side in $sides; do
    if [ "$side" = base ]; then checkout=$base; else checkout=$head; fi
    profile=$out/$side/$run$ending
    (cd "$checkout" && PROFILE=$profile "$@")
    [ -s "$profile" ] || { echo "measure.sh: $* wrote no $profile" >&2; exit 3; }
  done
done
rm "$out"/{base,head}/warm-up"$ending"
