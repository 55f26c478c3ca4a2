// SPDX-License-Identifier: Apache-2.0
// The events of a Chrome trace as text, cut into chunks at the borders of events, so that chunks can be
// parsed on several threads and a trace never has to be in memory as a whole.
//
// A border is a comma between the objects of the "traceEvents" array. To find one exactly every byte of
// strings and brackets must be looked at; a look-alike from the end of a block costs nothing and is wrong
// only inside a string or a nested array of objects. Such a cut leaves a chunk that is not a list of whole
// objects, which its parser notices: the trace is then read once more with Cut::kExact.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/bytes/byte_source.h"

namespace dladvisor::kineto {

// What to do with JSON that is no trace.
inline constexpr std::string_view kGiveATrace =
    "export a trace with torch.profiler's export_chrome_trace or tensorboard_trace_handler; of times that a "
    "program measured itself give what it printed while it ran, or record it (nsys profile "
    "--trace=cuda,nvtx -o run PROGRAM)";

// Part of a text with room for a bracket before it and what simdjson wants after it.
class Chunk {
 public:
  // "[EVENT, EVENT, ...]".
  std::string_view Array() const { return {bytes_.data(), size_}; }
  size_t capacity() const { return bytes_.size(); }

 private:
  friend class EventText;
  std::vector<char> bytes_;
  size_t size_ = 0;
};

class EventText {
 public:
  enum class Cut { kGuessed, kExact };

  // Reads up to the first event. Throws Error where the text holds no array of events.
  EventText(ByteSource& source, Cut cut);

  // The next chunk, in order; false after the last.
  bool Next(Chunk& chunk);

  // The members of the root object around the events, as the text of one object; "{}" for a bare array. After
  // the last chunk.
  std::string Frame() const;
  // Whether the text ended before the array of events did. After the last chunk.
  bool IsTruncated() const { return truncated_; }

 private:
  void FindEvents();
  void ReadFooter(std::string_view rest);
  size_t Fill(Chunk& chunk, size_t size);
  static void Close(Chunk& chunk, size_t size);

  ByteSource& source_;
  const Cut cut_;
  std::string header_, footer_;  // members before and after the events
  std::string carry_;            // read, and not yet part of a chunk
  bool is_array_ = false, done_ = false, truncated_ = false;
};

}  // namespace dladvisor::kineto
