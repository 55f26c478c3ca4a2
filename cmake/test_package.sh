#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries what package.sh packed, each in a fresh environment, against the program that was built for use on this machine.
#
#   cmake/test_package.sh PROGRAM FOLDER BIN     # the static program, the packages, and a folder with dladvisor,
#                                                # megatron-gpt and data-parallel
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: $0 PROGRAM FOLDER BIN" >&2; exit 1; }
program=$(realpath "$1") packages=$(realpath "$2") bin=$(realpath "$3")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 skipped=0

ok() { passed=$((passed + 1)); echo "ok: $*"; }
skip() { skipped=$((skipped + 1)); echo "skipped: $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

same_reports() {  # same_reports WHAT PROGRAM...: the reports of the examples are those of the built program
  local what=$1 profile format
  shift
  for profile in naive.sqlite job; do
    for format in html json md text; do
      (cd "$work/runs" && "$@" report "$profile" --format $format >"$work/packed" && "$bin/dladvisor" report "$profile" --format $format >"$work/built")
      cmp -s "$work/packed" "$work/built" || fail "$what: $format of $profile differs from what $bin/dladvisor writes"
    done
  done
  ok "$what: reports are those of the built program"
}

mkdir "$work/runs"
"$bin/megatron-gpt" naive -o "$work/runs/naive.sqlite"
"$bin/data-parallel" --nodes 1 --gpus 2 --program 1 --seed 1 -o "$work/runs/job"

mkdir "$work/again"
cmake/package.sh "$program" "$work/again"
diff -r "$packages" "$work/again" >/dev/null || fail "packed again, $(diff -rq "$packages" "$work/again" | head -1)"
ok "packed again, the same bytes"

tar -C "$work" -xzf "$packages"/dladvisor-*-linux-x86_64.tar.gz
unpacked=$(echo "$work"/dladvisor-*-linux-x86_64)
[ "$(stat -c %s "$unpacked/bin/dladvisor")" -lt 15000000 ] || fail "the program has $(stat -c %s "$unpacked/bin/dladvisor") bytes, 15 MB at most"
! ldd "$unpacked/bin/dladvisor" >/dev/null 2>&1 || ldd "$unpacked/bin/dladvisor" | grep -q 'statically linked' || fail "the program needs shared libraries"
same_reports tarball "$unpacked/bin/dladvisor"
same_reports "tarball, JSON without vector instructions" env SIMDJSON_FORCE_IMPLEMENTATION=fallback "$unpacked/bin/dladvisor"
if has qemu-x86_64-static; then  # an x86-64 of 2008: SSE4.2, no AVX
  same_reports "tarball, a CPU without AVX" qemu-x86_64-static -cpu Nehalem "$unpacked/bin/dladvisor"
else
  skip "a CPU without AVX: qemu-user-static is not installed"
fi

root=$work/empty
mkdir "$root"
cp "$unpacked/bin/dladvisor" "$work/runs/naive.sqlite" "$root/"
as_root=(chroot)
[ "$(id -u)" -eq 0 ] || as_root=(unshare --map-root-user chroot)
if "${as_root[@]}" "$root" /dladvisor --version >/dev/null 2>&1; then
  "${as_root[@]}" "$root" /dladvisor report naive.sqlite -o naive.html
  (cd "$work/runs" && "$bin/dladvisor" report naive.sqlite -o "$work/naive.html")
  cmp "$root/naive.html" "$work/naive.html" || fail "in an empty root the report differs"
  ok "an empty root, with nothing but the program and a profile"
elif [ "$(id -u)" -eq 0 ]; then
  fail "the program does not run in an empty root"
else
  skip "an empty root: not permitted here"
fi

if ! has buildah; then
  skip "a container: buildah is not installed"
elif [ "$(id -u)" -ne 0 ]; then
  skip "a container: only root builds one here"
else
  build=(buildah --root "$work/containers" --runroot "$work/containers-run" --storage-driver vfs)
  "${build[@]}" bud --quiet --isolation chroot --tag dladvisor --file examples/ci/container/Containerfile "$unpacked" >/dev/null
  container=$("${build[@]}" from dladvisor)
  [ "$("${build[@]}" inspect --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.WorkingDir}}' dladvisor)" = "[/dladvisor] /profiles" ] ||
    fail "the container starts something else"
  "${build[@]}" run --isolation chroot --volume "$work/runs:/profiles:ro" "$container" -- /dladvisor report naive.sqlite --format html >"$work/packed"
  (cd "$work/runs" && "$bin/dladvisor" report naive.sqlite --format html >"$work/built")
  cmp "$work/packed" "$work/built" || fail "in a container the report differs"
  ok "a container of $(du -sb "$("${build[@]}" mount "$container")" | cut -f1) bytes, by examples/ci/container/Containerfile"
  "${build[@]}" rm --all >/dev/null
fi

if has zsh; then zsh -n "$unpacked/share/zsh/site-functions/_dladvisor"; fi
if has fish; then fish -n "$unpacked/share/fish/vendor_completions.d/dladvisor.fish"; fi
bash -n "$unpacked/share/bash-completion/completions/dladvisor"
[ -s "$unpacked/share/man/man1/dladvisor-report.1" ] || fail "the tarball has no man page of report"
ok "man pages and completions"

deb=$(echo "$packages"/dladvisor_*_amd64.deb)
[ -z "$(dpkg-deb -f "$deb" Depends)" ] || fail "the .deb depends on $(dpkg-deb -f "$deb" Depends)"
if [ "$(id -u)" -eq 0 ]; then
  mkdir -p "$work/debian/var/lib/dpkg/updates" "$work/debian/var/lib/dpkg/info"
  touch "$work/debian/var/lib/dpkg/status"
  dpkg --root="$work/debian" --force-not-root --log=/dev/null -i "$deb" >/dev/null
else
  dpkg-deb -x "$deb" "$work/debian"
fi
same_reports .deb "$work/debian/usr/bin/dladvisor"
if has lintian; then
  lintian --fail-on error,warning --allow-root "$deb" || fail "lintian"
  ok "lintian"
else
  skip "lintian: not installed"
fi

wheel=$(echo "$packages"/dladvisor-*.whl)
if python3 -m venv "$work/venv" >/dev/null 2>&1; then
  "$work/venv/bin/pip" install --quiet --no-index --no-deps --disable-pip-version-check "$wheel"
  same_reports wheel "$work/venv/bin/dladvisor"
  # pytest itself comes from the system, the module from the wheel alone.
  pytest=$(for python in /usr/bin/python3 python3; do "$python" -c 'import os, pytest; print(os.path.dirname(os.path.dirname(pytest.__file__)))' 2>/dev/null && break; done || true)
  if [ -n "$pytest" ]; then
    (cd "$work" && cp -r "$OLDPWD/python/tests" python_tests && PATH="$bin:$PATH" PYTHONPATH= DLADVISOR_PYTHON_README="$OLDPWD/python/README.md" \
      "$work/venv/bin/python" -c "import sys; sys.path.append('$pytest'); import pytest; sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', 'python_tests']))")
    ok "the Python module's own tests"
  else
    skip "the Python module's own tests: pytest is not installed"
  fi
else
  skip "wheel: python3 has no venv"
fi
echo "$passed passed, $skipped skipped"
