// SPDX-License-Identifier: Apache-2.0
// The slices of a Perfetto trace in the order of the file, with what annotates them. Names stand in the file
// once, with a number for each, by sequence of packets
// (https://perfetto.dev/docs/reference/trace-packet-proto).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/importers/bytes/byte_source.h"

namespace dladvisor::pftrace {

struct Slice {
  struct Annotation {
    std::string_view name, text;
    std::optional<int64_t> number;
  };

  std::string_view category, name;
  std::vector<Annotation> annotations;

  std::optional<int64_t> Number(std::string_view annotation) const;
  std::string_view Text(std::string_view annotation) const;
};

class SliceReader {
 public:
  using Visit = std::function<void(const Slice& slice)>;

  // Calls visit(slice) where a slice begins; false where the file ends within a packet, or is no trace from
  // there on.
  bool ForEach(ByteSource& source, const Visit& visit);
  // Of the first process that the trace describes; 0 where there is none so far.
  int64_t pid() const { return pid_; }

 private:
  using Names = std::unordered_map<uint64_t, std::string>;  // by number
  struct Sequence {
    Names categories, names, annotations, texts;
  };

  void Read(std::string_view packet, const Visit& visit);
  void ReadEvent(std::string_view event, const Sequence& sequence, const Visit& visit);
  static void ReadNames(std::string_view interned, Sequence& sequence);
  void ReadTrack(std::string_view track);

  std::map<uint64_t, Sequence> sequences_;
  Slice slice_;
  int64_t pid_ = 0;
};

}  // namespace dladvisor::pftrace
