#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares what two builds of dladvisor write, byte for byte, over all files of a folder of profiles: reports, digests,
# gates, queries, and the exit status and messages of each. Prints every difference, and every run that crashed or took
# too long; exit status 1 where there is one.
# What a build wrote is kept, by the content of its program, so that a build is run only once over the same files.
set -euo pipefail
export LC_ALL=C

usage() {
  cat >&2 <<END
usage: tests/compare_builds.sh BEFORE AFTER [FOLDER]
  BEFORE, AFTER  programs, e.g. build/release/bin/dladvisor
  FOLDER         profiles; \$DLADVISOR_DATA where it is not given
JOBS=N runs N programs at once. Outputs are kept below ${XDG_CACHE_HOME:-\$HOME/.cache}/dladvisor/compare for a week.
END
  exit 3
}

# Relations and views that each file is asked for; of all others each file is asked for a few, the next file for others.
fixed_views=(cuda_gpu_kern_sum dlprof_op_type hta_temporal_breakdown tb_operator)
others_per_file=3

# run NAME ARGUMENT...: runs the program; its output goes to NAME.stdout, its messages to NAME.stderr. What else it
# writes is to be called NAME, too.
run() {
  local name=$1 status=0
  shift
  timeout 300 "$program" "$@" >"$name.stdout" 2>"$name.stderr" </dev/null || status=$?
  echo "$status" >"$name.status"
  printf '%s\t%s\n' "$name" "$*" >>commands
  return "$status"
}

# gate NAME PROFILE: gates a profile by the digest in this folder.
gate() {
  run "$1" gate --baseline digest.digest "$2" --json "$1.json" --junit "$1.xml" --sarif "$1.sarif" \
    --markdown "$1.md" --html "$1.html" --annotations || true
}

# reports PROFILE: the report in every format, and the digest; fails where the profile cannot be read.
reports() {
  run report-html report "$1" -o report-html.html || return 1
  run report-md report "$1" -o report-md.md || true
  run report-json report "$1" -o report-json.json || true
  run report-text report "$1" --format text || true
  run digest digest "$1" -o digest.digest
}

# A line of the list: a number, the kind of case, a profile, and the next profile of its folder.
one_case() {
  local number kind profile next view i
  IFS=$'\t' read -r number kind profile next <<<"$1"
  mkdir -p "$work/${profile#"$folder"/}.$kind"
  cd "$work/${profile#"$folder"/}.$kind"
  case $kind in
    program)
      run help --help || true
      for view in report gate digest query facts rules explain; do run "help-$view" "$view" --help || true; done
      run rules-list rules list || true
      run rules-test rules test || true
      run rules-docs rules docs -o docs || true
      while read -r view _; do run "rule-$view" rules show "$view" || true; done <rules-list.stdout
      run facts facts || true
      for view in "${views[@]}"; do run "facts-$view" facts "$view" || true; done
      ;;
    folder)
      reports "$profile" || return 0
      gate gate "$profile"
      ;;
    file)
      reports "$profile" || return 0
      gate gate-itself "$profile"
      [ -z "$next" ] || gate gate-next "$next"
      run explain explain cpu-launch-starvation "$profile" || true
      for view in "${fixed_views[@]}"; do run "query-$view" query "$profile" "$view" --format csv || true; done
      for ((i = 0; i < others_per_file; ++i)); do
        view=${views[(number * others_per_file + i) % ${#views[@]}]}
        run "query-$view" query "$profile" "$view" --format json || true
      done
      ;;
  esac
}

if [ "${1:-}" = --case ]; then  # called by xargs below, with program, folder, work and relations in the environment
  read -ra views <<<"$relations"
  one_case "$2"
  exit 0
fi

# The cases over a folder, one a line.
list_cases() {
  local number=0 files i sub
  printf '0\tprogram\tprogram\t\n'
  while IFS= read -r sub; do
    mapfile -t files < <(find -L "$sub" -maxdepth 1 -type f | sort)
    if [ ${#files[@]} -ge 2 ] && [ -z "$(find -L "$sub" -mindepth 1 -type d -print -quit)" ]; then
      printf '%d\tfolder\t%s\t\n' "$number" "$sub"
    fi
    for i in "${!files[@]}"; do
      printf '%d\tfile\t%s\t%s\n' "$((number++))" "${files[i]}" "${files[i + 1]:-}"
    done
  done < <(find -L "$folder" -type d | sort)
}

# outputs_of PROGRAM: sets `outputs` to the folder with what a program writes, which it runs if it is not there yet.
outputs_of() {
  local key started=$SECONDS
  program=$(realpath "$1")
  key=$({ sha256sum <"$program"; sha256sum <"$self"; echo "$folder $relations"; find -L "$folder" -type f -printf '%P %s\n' | sort; } | sha256sum)
  outputs=$cache/${key:0:16}
  if [ -e "$outputs/sums" ]; then
    touch "$outputs"
    echo "$1: run before" >&2
    return
  fi
  rm -rf "$outputs" "$work"
  mkdir -p "$work"
  export program
  list_cases | tr '\n' '\0' | xargs -0 -P "${JOBS:-$(nproc)}" -n 1 "$self" --case
  (cd "$work" && find . -type f ! -name commands -print0 | sort -z | xargs -0 sha256sum) >"$cache/sums"
  mv "$work" "$outputs"
  mv "$cache/sums" "$outputs/sums"
  echo "$1: $(wc -l <"$outputs/sums") outputs in $((SECONDS - started)) s" >&2
}

# The first line in which two files differ, around the first byte that does.
first_difference() {
  local line a b at=0
  if [ "${1##*.}" = digest ] && command -v sqlite3 >/dev/null; then
    line=$(diff <(sqlite3 "$1" .dump 2>&1) <(sqlite3 "$2" .dump 2>&1) | grep -m 2 '^[<>]' | cut -c 1-200) || true
    printf '%s\n' "${line:-the same rows, stored otherwise}" | sed 's/^/    /'
    return
  fi
  line=$(cmp -- "$1" "$2" 2>/dev/null | sed -n 's/.*line \([0-9]*\)$/\1/p') || true
  line=${line:-$(($(wc -l <"$1") < $(wc -l <"$2") ? $(wc -l <"$1") + 1 : $(wc -l <"$2") + 1))}
  a=$(sed -n "${line}p" "$1" | tr -d '\0')
  b=$(sed -n "${line}p" "$2" | tr -d '\0')
  at=$(cmp <(printf '%s\n' "$a") <(printf '%s\n' "$b") 2>/dev/null | sed -n 's/.*byte \([0-9]*\),.*/\1/p') || true
  at=$((${at:-1} > 60 ? at - 60 : 0))
  printf '    line %s\n    < %s\n    > %s\n' "$line" "${a:at:160}" "${b:at:160}"
}

if [ $# -lt 2 ] || [ $# -gt 3 ]; then usage; fi
folder=${3:-${DLADVISOR_DATA:-}}
[ -n "$folder" ] || { echo "tests/compare_builds.sh: no folder: name one, or set DLADVISOR_DATA" >&2; usage; }
[ -d "$folder" ] || { echo "tests/compare_builds.sh: $folder: no such folder" >&2; exit 3; }
for program in "$1" "$2"; do
  [ -x "$program" ] || { echo "tests/compare_builds.sh: $program: no such program" >&2; exit 3; }
done
self=$(realpath "$0")
folder=$(realpath "$folder")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/dladvisor/compare
work=$cache/work
mkdir -p "$cache"
exec 9>"$cache/lock"
flock -n 9 || { echo "waiting for another comparison" >&2; flock 9; }
find "$cache" -mindepth 1 -maxdepth 1 -type d -mtime +7 -exec rm -rf {} +
# What BEFORE has is asked of both, so that both get the same arguments.
relations=$("$1" facts | sed -n 's/^\([a-z][a-z0-9_]*\)  *[A-Z].*/\1/p' | tr '\n' ' ')
export folder work relations

outputs_of "$1"
before=$outputs
outputs_of "$2"
after=$outputs

# Each output that differs or that only one of them has, once.
mapfile -t differing < <(sort "$before/sums" "$after/sums" | uniq -u | cut -c 67- | sort -u)
for output in "${differing[@]}"; do
  name=${output##*/}
  echo "${output#./}"
  awk -F '\t' -v name="${name%.*}" '$1 == name { print "    dladvisor " $2 }' "$before/${output%/*}/commands" 2>/dev/null || true
  if [ ! -e "$before/$output" ]; then
    echo "    only AFTER writes it"
  elif [ ! -e "$after/$output" ]; then
    echo "    only BEFORE writes it"
  else
    first_difference "$before/$output" "$after/$output"
  fi
done
# Runs that ended by a signal or the time limit, in either build: where both did, what they wrote may be the same.
mapfile -t broken < <(cd "$before" && find . "$after" -name '*.status' -exec awk '$1 >= 124 { print FILENAME ": " $1 }' {} + |
  sed -e "s|^$after/|after: |" -e 's|^\./|before: |' | sort)
[ ${#broken[@]} -eq 0 ] || printf 'ended by a signal or the time limit: %s\n' "${broken[@]}"
echo "$(cut -c 67- "$before/sums" "$after/sums" | sort -u | wc -l) compared, ${#differing[@]} differ"
[ ${#differing[@]} -eq 0 ] && [ ${#broken[@]} -eq 0 ] || { echo "outputs: $before $after" >&2; exit 1; }
