#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs the static program: a tarball, a Debian package and a Python wheel. The same program and commit give the
# same bytes. Who publishes the Debian package sets DEBFULLNAME and DEBEMAIL.
#
#   cmake/package.sh PROGRAM FOLDER
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 PROGRAM FOLDER" >&2; exit 1; }
program=$(realpath "$1")
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(dladvisor VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} LC_ALL=C TZ=UTC
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

strip -o "$work/dladvisor" "$program"
"$program" man -o "$work/man1"
"$program" completions bash >"$work/dladvisor.bash"
"$program" completions zsh >"$work/_dladvisor"
"$program" completions fish >"$work/dladvisor.fish"

pack_tarball() {
  local name=dladvisor-$version-linux-x86_64 root
  root=$work/$name
  install -D "$work/dladvisor" "$root/bin/dladvisor"
  install -D -m 644 -t "$root/share/man/man1" "$work"/man1/*
  install -D -m 644 "$work/dladvisor.bash" "$root/share/bash-completion/completions/dladvisor"
  install -D -m 644 "$work/_dladvisor" "$root/share/zsh/site-functions/_dladvisor"
  install -D -m 644 "$work/dladvisor.fish" "$root/share/fish/vendor_completions.d/dladvisor.fish"
  install -m 644 README.md CHANGELOG.md LICENSE "$root/"
  tar -C "$work" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$name" |
    gzip -9n >"$out/$name.tar.gz"
}

pack_deb() {
  local root=$work/deb maintainer="${DEBFULLNAME:-dladvisor} <${DEBEMAIL:-dladvisor@localhost.localdomain}>"
  install -D "$work/dladvisor" "$root/usr/bin/dladvisor"
  install -D -m 644 -t "$root/usr/share/man/man1" "$work"/man1/*
  install -D -m 644 "$work/dladvisor.bash" "$root/usr/share/bash-completion/completions/dladvisor"
  install -D -m 644 "$work/_dladvisor" "$root/usr/share/zsh/vendor-completions/_dladvisor"
  install -D -m 644 "$work/dladvisor.fish" "$root/usr/share/fish/vendor_completions.d/dladvisor.fish"
  mkdir -p "$root/usr/share/doc/dladvisor" "$root/usr/share/lintian/overrides" "$root/DEBIAN"
  cat >"$root/usr/share/doc/dladvisor/copyright" <<EOF
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: dladvisor

Files: *
Copyright: $(date -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of dladvisor
License: Apache-2.0
 On Debian systems the full text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
EOF
  printf 'dladvisor (%s) stable; urgency=medium\n\n  * What changed is in /usr/share/doc/dladvisor/CHANGELOG.md.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -R -d "@$SOURCE_DATE_EPOCH")" >"$root/usr/share/doc/dladvisor/changelog"
  cp CHANGELOG.md "$root/usr/share/doc/dladvisor/"
  # One program without shared libraries is what the package is for; the address is that of who publishes it.
  cat >"$root/usr/share/lintian/overrides/dladvisor" <<EOF
dladvisor: statically-linked-binary [usr/bin/dladvisor]
dladvisor: shared-library-lacks-prerequisites [usr/bin/dladvisor]
dladvisor: embedded-library *
dladvisor: bogus-mail-host Maintainer dladvisor@localhost.localdomain
dladvisor: bogus-mail-host-in-debian-changelog dladvisor@localhost.localdomain *
EOF
  chmod 644 "$root/usr/share/doc/dladvisor"/* "$root/usr/share/lintian/overrides/dladvisor"
  gzip -9n "$root"/usr/share/man/man1/* "$root/usr/share/doc/dladvisor/changelog"
  cat >"$root/DEBIAN/control" <<EOF
Package: dladvisor
Version: $version
Architecture: amd64
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f1)
Section: devel
Priority: optional
Description: says what makes a deep-learning run slow, and why
 Reads what profilers recorded of a run on GPUs (PyTorch's profiler, Nsight
 Systems, nvidia-smi, training logs), reasons over it with rules, and writes a
 report: what to change, why, and what it would save. Fails a build on a
 performance regression, and not on noise.
EOF
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zxz --build "$root" "$out/dladvisor_${version}_amd64.deb" >/dev/null
}

pack_tarball
pack_deb
python3 python/build_wheel.py "$work/dladvisor" "$version" "$SOURCE_DATE_EPOCH" "$out"
(cd "$out" && sha256sum -- dladvisor[-_]"$version"* >SHA256SUMS)
