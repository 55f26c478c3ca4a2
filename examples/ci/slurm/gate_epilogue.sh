#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Judges the profiles that a job left in a folder, one or one for each rank, against the last that were good:
#   gate_epilogue.sh FOLDER          as the last line of the batch script, or after the job as its user:
#   sbatch --dependency=afterok:JOBID gate_epilogue.sh FOLDER
# Baseline and history lie in $KEPT, one for each name of a job ($NAME). ACCEPT=1 takes what is slower as well.
#SBATCH --job-name=gate
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: gate_epilogue.sh FOLDER" >&2; exit 3; }
runs=$1
kept=${KEPT:-$HOME/performance}
name=${NAME:-${SLURM_JOB_NAME:-training}}
# Beside the profiles, not among them.
results=${runs%/}.gate
mkdir -p "$kept" "$results"
baseline=$kept/$name.digest

# The history keeps which commit a run was of, or else its job.
label=${COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo "job ${SLURM_JOB_ID:-?}")}
profiles=()
for file in "$runs"/*.sqlite "$runs"/*.json "$runs"/*.json.gz "$runs"/*.digest; do
  if [ -e "$file" ]; then profiles+=("$file"); fi
done
[ ${#profiles[@]} -gt 0 ] || { echo "gate_epilogue.sh: no profile in $runs" >&2; exit 3; }
# Profiles of ranks are one run, which is named by its folder.
[ ${#profiles[@]} -eq 1 ] || profiles=("$runs")

if [ ! -e "$baseline" ]; then
  exec dladvisor gate --baseline "$baseline" --update "${profiles[@]}"
fi
status=0
dladvisor gate --baseline "$baseline" --junit "$results/gate.xml" --sarif "$results/gate.sarif" \
  --markdown "$results/gate.md" --html "$results/gate.html" --json "$results/gate.json" \
  --history "$kept/$name.sqlite" --label "$label" "${profiles[@]}" || status=$?
if [ "$status" -eq 0 ] && grep -qs '^ "verdict": "inconclusive"' "$results/gate.json"; then status=2; fi
if [ "$status" -eq 0 ] || [ -n "${ACCEPT:-}" ]; then
  dladvisor gate --baseline "$baseline" --update "${profiles[@]}"
  status=0
fi
# What cannot be compared, or may be noise, is a warning, as in the other examples; the outputs say why.
if [ "$status" -eq 2 ]; then status=0; fi
exit "$status"
