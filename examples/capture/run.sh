#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Captures every planted problem of capture.py before and after its fix: run.sh [DIR [ARGUMENT OF capture.py...]]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-captures}
case $out in
  -h | --help) sed -n '2s/^# //p' "$0"; exit 0 ;;
  -*) echo "run.sh: $out is no folder; arguments of capture.py follow the folder" >&2; exit 2 ;;
esac
shift || true
python=${PYTHON:-python3}
command -v "$python" >/dev/null || { echo "run.sh: no $python; set PYTHON" >&2; exit 1; }
problems=$(PYTHONPATH=$here "$python" -c 'from problems import PROBLEMS; print(*PROBLEMS)')

for problem in $problems; do
  "$python" "$here/capture.py" --problem "$problem" -o "$out" "$@"
  "$python" "$here/capture.py" --problem "$problem" --fixed -o "$out" "$@"
done
