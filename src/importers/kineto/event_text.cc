// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/event_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"

namespace dladvisor::kineto {
namespace {

constexpr size_t kBlock = 4 << 20;
constexpr size_t kPadding = 64;          // simdjson reads, but does not use, bytes after the text
constexpr size_t kMostFrame = 64 << 20;  // bytes of what is around the events
constexpr size_t kMostEvent = 1 << 30;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Walks over JSON text, knowing what is a string and how deep it is.
struct Scanner {
  int depth = 0;
  bool in_string = false, escaped = false;

  // Whether `c` belongs to the structure, not to a string.
  bool Step(char c) {
    if (in_string) {
      if (escaped)
        escaped = false;
      else if (c == '\\')
        escaped = true;
      else if (c == '"')
        in_string = false;
      return false;
    }
    if (c == '"') {
      in_string = true;
      return false;
    }
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    return true;
  }
};

// Where the list of events in `text` ends, and the events that are whole.
struct List {
  size_t whole = 0;        // end of the last whole event
  size_t last_border = 0;  // position of the last comma between events; 0 where there is none
  size_t end = std::string_view::npos;
};

List ScanList(std::string_view text) {
  List list;
  Scanner scanner;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!scanner.Step(text[i])) continue;
    if (scanner.depth < 0) {
      list.end = i;
      return list;
    }
    if (scanner.depth > 0) continue;
    if (text[i] == '}' || text[i] == ']') list.whole = i + 1;
    if (text[i] == ',') list.last_border = i;
  }
  return list;
}

// The last comma that looks like one between events: "}, {\"". 0 where there is none.
size_t GuessBorder(std::string_view text) {
  size_t at = text.size();
  while (at > 0) {
    const void* found = memrchr(text.data(), '{', at);
    if (!found) return 0;
    at = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    size_t after = at + 1;
    while (after < text.size() && IsSpace(text[after])) ++after;
    if (after == text.size() || text[after] != '"') continue;
    size_t before = at;
    while (before > 0 && IsSpace(text[before - 1])) --before;
    if (before == 0 || text[before - 1] != ',') continue;
    const size_t comma = --before;
    while (before > 0 && IsSpace(text[before - 1])) --before;
    if (before > 0 && text[before - 1] == '}') return comma;
  }
  return 0;
}

}  // namespace

EventText::EventText(ByteSource& source, Cut cut) : source_(source), cut_(cut) { FindEvents(); }

void EventText::FindEvents() {
  constexpr std::string_view kKey = "\"traceEvents\"";
  Scanner scanner;
  size_t at = 0, key = std::string::npos;
  bool started = false;
  for (bool more = true; more;) {
    const size_t before = carry_.size();
    const size_t wanted = before == 0 ? ByteSource::kHead : kBlock;
    carry_.resize(before + wanted);
    carry_.resize(before + source_.Read(carry_.data() + before, wanted));
    more = carry_.size() == before + wanted;
    if (!started && carry_.starts_with("\xEF\xBB\xBF")) carry_.erase(0, 3);
    for (; at < carry_.size(); ++at) {
      const char c = carry_[at];
      if (!started && IsSpace(c)) continue;
      const bool was_in_string = scanner.in_string;
      const bool is_structure = scanner.Step(c);
      if (!started) {
        started = true;
        if (c == '[') is_array_ = true;
        if (c != '[' && c != '{') throw WrongKind(source_.name(), "not JSON text");
      } else if (scanner.in_string && !was_in_string && scanner.depth == 1) {
        key = at;
      }
      const bool begins = is_array_
                              ? at == carry_.find_first_not_of(" \t\r\n")
                              : is_structure && c == '[' && scanner.depth == 2 && key != std::string::npos &&
                                    std::string_view(carry_).substr(key, kKey.size()) == kKey;
      if (!begins) {
        if (is_structure && c == ',' && scanner.depth == 1) key = std::string::npos;
        continue;
      }
      if (!is_array_) header_ = carry_.substr(carry_.find('{') + 1, key - carry_.find('{') - 1);
      carry_.erase(0, at + 1);
      return;
    }
    if (carry_.size() > kMostFrame) break;
  }
  throw WrongKind(source_.name(), "JSON without an array \"traceEvents\", which every Chrome trace has",
                  std::string(kGiveATrace));
}

size_t EventText::Fill(Chunk& chunk, size_t size) {
  chunk.bytes_.resize(std::max(chunk.bytes_.size(), size + kBlock + 2 + kPadding));
  return source_.Read(chunk.bytes_.data() + 1 + size, kBlock);
}

void EventText::Close(Chunk& chunk, size_t size) {
  chunk.bytes_[0] = '[';
  chunk.bytes_[1 + size] = ']';
  chunk.size_ = size + 2;
}

bool EventText::Next(Chunk& chunk) {
  if (done_) return false;
  size_t size = carry_.size();
  chunk.bytes_.resize(std::max(chunk.bytes_.size(), size + 1));
  std::memcpy(chunk.bytes_.data() + 1, carry_.data(), size);
  for (;;) {
    const size_t got = Fill(chunk, size);
    size += got;
    const std::string_view text(chunk.bytes_.data() + 1, size);
    const bool is_last = got < kBlock;
    const bool scan = is_last || cut_ == Cut::kExact;
    const List list = scan ? ScanList(text) : List{.last_border = GuessBorder(text)};
    if (list.end != std::string_view::npos || is_last) {
      done_ = true;
      const bool ended = list.end != std::string_view::npos;
      // Of a bare array the closing bracket may be left out, for programs that stop while they write.
      truncated_ = !ended && !(is_array_ && text.find_first_not_of(" \t\r\n,", list.whole) == text.npos);
      if (ended) ReadFooter(text.substr(list.end + 1));
      Close(chunk, list.whole);
      return true;
    }
    if (list.last_border > 0) {
      carry_.assign(text.substr(list.last_border + 1));
      Close(chunk, list.last_border);
      return true;
    }
    if (size > kMostEvent) throw Error(source_.name(), "holds an event of more than 1 GiB");
  }
}

void EventText::ReadFooter(std::string_view rest) {
  footer_ = rest;
  std::string block(kBlock, '\0');
  while (footer_.size() <= kMostFrame) {
    const size_t got = source_.Read(block.data(), block.size());
    footer_.append(block.data(), got);
    if (got < block.size()) return;
  }
}

std::string EventText::Frame() const {
  if (is_array_) return "{}";
  // "traceEvents": [...] goes; what stands between are commas, of which one may be too many.
  const auto trim = [](std::string_view text) {
    while (!text.empty() && (IsSpace(text.back()) || text.back() == ',')) text.remove_suffix(1);
    while (!text.empty() && (IsSpace(text.front()) || text.front() == ',')) text.remove_prefix(1);
    return text;
  };
  const size_t close = footer_.rfind('}');
  const std::string_view before = trim(header_);
  const std::string_view after =
      trim(std::string_view(footer_).substr(0, close == std::string::npos ? 0 : close));
  return fmt::format("{{{}{}{}}}", before, before.empty() || after.empty() ? "" : ",", after);
}

}  // namespace dladvisor::kineto
