#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds static libraries of what Debian has as shared ones alone, from the sources of the very packages whose
# headers are installed: libfmt.a, libsimdjson.a, libisal.a and libtbb.a.
#
#   cmake/static_libraries.sh FOLDER     # FOLDER/lib*.a; what is there already of this version is kept
set -euo pipefail
shopt -s inherit_errexit
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 1; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
work=$folder/work
flags="-O2 -DNDEBUG -fPIE -pthread -ffile-prefix-map=$work=."

# apt-get with package lists of its own, so that those of the system stay as they are.
apt_get() {
  apt-get -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
    -o APT::Sandbox::User=root "$@"
}

update() {  # $work/updated is there only after one that brought all lists
  local codename mirror=http://deb.debian.org
  rm -f "$work/updated"
  mkdir -p "$work/lists/partial"
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  {
    printf 'deb-src %s/debian %s main\n' $mirror "$codename" $mirror "$codename-updates"
    printf 'deb-src %s/debian-security %s-security main\n' $mirror "$codename"
  } >"$work/sources.list"
  apt_get update -qq -o APT::Update::Error-Mode=any
  touch "$work/updated"
}

# unpack NAME VERSION: a source package, into the working folder; lists may be older than what is installed.
unpack() {
  if [ -e "$work/updated" ] && apt_get source -qq "$1=$2"; then return; fi
  update
  apt_get source -qq "$1=$2"
}

# version_of PACKAGE: prints name and version of the source of the installed package.
version_of() { dpkg-query -W -f='${source:Package} ${source:Version}' "$1"; }

# source_of PACKAGE: prints the folder with that source.
source_of() {
  local text name version place
  text=$(version_of "$1")
  read -r name version <<<"$text"
  place=$work/$name-${version//:/_}
  if [ ! -d "$place" ]; then
    rm -rf "$place.part"
    mkdir "$place.part"
    (cd "$place.part"; unpack "$name" "$version") >&2
    mv "$place.part" "$place"
  fi
  find "$place" -mindepth 1 -maxdepth 1 -type d
}

archive() {  # archive NAME OBJECT...: whole or not at all, the same bytes every time
  local name=$1
  shift
  rm -f "$work/$name"
  ar rcsD "$work/$name" "$@"
  mv "$work/$name" "$folder/$name"
}

make_fmt() {
  local source
  source=$(source_of libfmt-dev)
  for file in format os; do
    # shellcheck disable=SC2086
    g++ -std=c++20 $flags -I"$source/include" -c "$source/src/$file.cc" -o "$work/fmt_$file.o"
  done
  archive libfmt.a "$work"/fmt_*.o
}

make_simdjson() {
  local source
  source=$(source_of libsimdjson-dev)
  # shellcheck disable=SC2086
  g++ -std=c++17 $flags -DSIMDJSON_THREADS_ENABLED=1 -I"$source/include" -I"$source/src" -c "$source/src/simdjson.cpp" -o "$work/simdjson.o"
  archive libsimdjson.a "$work/simdjson.o"
}

make_isal() {
  local source
  source=$(source_of libisal-dev)
  rm -rf "${source:?}/bin"  # of other flags
  make -s -C "$source" -f Makefile.unx units='igzip crc' CFLAGS_gcc="$flags" CC=gcc AS=nasm lib
  archive libisal.a "$source"/bin/*.o
}

make_tbb() {
  local source
  source=$(source_of libtbb-dev)
  rm -rf "$work/tbb"  # of another version
  cmake -S "$source" -B "$work/tbb" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="$flags" -DBUILD_SHARED_LIBS=OFF \
    -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF -DTBB_ENABLE_IPO=OFF -DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON
  cmake --build "$work/tbb" --target tbb
  find "$work/tbb" -name libtbb.a -exec mv {} "$folder/libtbb.a" \;
}

# make_library PACKAGE LIBRARY: builds it unless it is there, of the package's version and with these flags.
make_library() {
  local made status=0
  made="$(version_of "$1") $flags"
  if [ -e "$folder/$2.a" ] && [ "$(cat "$work/$2.made" 2>/dev/null || true)" = "$made" ]; then return; fi
  echo "Building $2.a" >&2
  rm -f "$folder/$2.a" "$work/$2.made"
  # In a list with || or after if, set -e would not hold in the function.
  set +e
  (set -e; "make_${2#lib}") >"$work/$2.log" 2>&1
  status=$?
  set -e
  if [ $status -ne 0 ] || [ ! -e "$folder/$2.a" ]; then
    cat "$work/$2.log" >&2
    exit 1
  fi
  printf '%s\n' "$made" >"$work/$2.made"
}

mkdir -p "$work"
make_library libfmt-dev libfmt
make_library libsimdjson-dev libsimdjson
make_library libisal-dev libisal
make_library libtbb-dev libtbb
