#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds static libraries of what Debian has as shared ones alone, from the sources of the very packages whose
# headers are installed: libfmt.a, libsimdjson.a, libisal.a and libtbb.a.
#
#   cmake/static_libraries.sh FOLDER     # FOLDER/lib*.a; what is there already is kept
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 1; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
work=$folder/work
flags="-O2 -DNDEBUG -fPIE -pthread -ffile-prefix-map=$work=."

# apt-get with package lists of its own, so that those of the system stay as they are.
sources() {
  local lists=$work/lists
  mkdir -p "$lists/partial"
  if [ ! -e "$work/sources.list" ]; then
    local codename mirror=http://deb.debian.org
    codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
    printf 'deb-src %s/debian %s main\n' $mirror "$codename" $mirror "$codename-updates" >"$work/sources.list"
    printf 'deb-src %s/debian-security %s-security main\n' $mirror "$codename" >>"$work/sources.list"
    apt-get -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$lists" update -qq
  fi
  apt-get -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$lists" \
    -o APT::Sandbox::User=root "$@"
}

# source_of PACKAGE: prints the folder with the source of the installed package.
source_of() {
  local name version
  name=$(dpkg-query -W -f='${source:Package}' "$1")
  version=$(dpkg-query -W -f='${source:Version}' "$1")
  mkdir -p "$work/$name"
  [ -n "$(find "$work/$name" -mindepth 1 -maxdepth 1 -type d)" ] || (cd "$work/$name" && sources source -qq "$name=$version" >&2)
  find "$work/$name" -mindepth 1 -maxdepth 1 -type d
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
  make -s -C "$source" -f Makefile.unx units='igzip crc' CFLAGS_gcc="$flags" CC=gcc AS=nasm lib
  archive libisal.a "$source"/bin/*.o
}

make_tbb() {
  local source
  source=$(source_of libtbb-dev)
  cmake -S "$source" -B "$work/tbb" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="$flags" -DBUILD_SHARED_LIBS=OFF \
    -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF -DTBB_ENABLE_IPO=OFF -DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON
  cmake --build "$work/tbb" --target tbb
  find "$work/tbb" -name libtbb.a -exec mv {} "$folder/libtbb.a" \;
}

mkdir -p "$work"
for library in fmt simdjson isal tbb; do
  [ -e "$folder/lib$library.a" ] && continue
  echo "Building lib$library.a" >&2
  (set -e; make_$library) >"$work/$library.log" 2>&1 || { cat "$work/$library.log" >&2; exit 1; }
done
