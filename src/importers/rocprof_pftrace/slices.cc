// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocprof_pftrace/slices.h"

#include <algorithm>
#include <utility>

#include "src/importers/rocprof_pftrace/wire_message.h"

namespace dladvisor::pftrace {
namespace {

// Fields of the messages, by number.
namespace packet {
constexpr uint64_t kSequence = 10, kEvent = 11, kInterned = 12, kFlags = 13, kTrack = 60;
constexpr uint64_t kStateCleared = 1;  // of the flags
}  // namespace packet
namespace event {
constexpr uint64_t kCategoryId = 3, kAnnotation = 4, kType = 9, kNameId = 10, kCategory = 22, kName = 23;
constexpr uint64_t kSliceBegin = 1;  // of the types
}  // namespace event
namespace annotation {
constexpr uint64_t kNameId = 1, kBool = 2, kUnsigned = 3, kSigned = 4, kText = 6, kName = 10, kTextId = 17;
}  // namespace annotation
namespace interned {
constexpr uint64_t kCategories = 1, kNames = 2, kAnnotations = 3, kTexts = 29;
}  // namespace interned

std::string_view NameOf(const std::unordered_map<uint64_t, std::string>& names, uint64_t number) {
  const auto found = names.find(number);
  return found == names.end() ? std::string_view() : std::string_view(found->second);
}

// The packets of a trace: each a field of number 1 with its length.
class Packets {
 public:
  explicit Packets(ByteSource& source) : source_(source) {}

  // False at the end.
  bool Next(std::string& packet) {
    const int tag = Byte();
    if (tag < 0) return false;
    constexpr int kPacket = 0x0a;
    uint64_t size = 0;
    whole_ = false;
    if (tag != kPacket) return false;
    for (unsigned shift = 0;; shift += 7) {
      const int byte = Byte();
      if (byte < 0 || shift > 28) return false;
      size |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    packet.clear();
    while (packet.size() < size) {
      if (at_ == filled_ && !Fill()) return false;
      const size_t part = std::min<size_t>(size - packet.size(), filled_ - at_);
      packet.append(buffer_, at_, part);
      at_ += part;
    }
    whole_ = true;
    return true;
  }
  bool whole() const { return whole_; }

 private:
  bool Fill() {
    filled_ = source_.Read(buffer_.data(), buffer_.size());
    at_ = 0;
    return filled_ > 0;
  }
  int Byte() { return at_ == filled_ && !Fill() ? -1 : static_cast<uint8_t>(buffer_[at_++]); }

  ByteSource& source_;
  std::string buffer_ = std::string(size_t{256} << 10, '\0');
  size_t at_ = 0, filled_ = 0;
  bool whole_ = true;
};

}  // namespace

std::optional<int64_t> Slice::Number(std::string_view annotation) const {
  for (const Annotation& a : annotations)
    if (a.name == annotation) return a.number;
  return std::nullopt;
}

std::string_view Slice::Text(std::string_view annotation) const {
  for (const Annotation& a : annotations)
    if (a.name == annotation) return a.text;
  return {};
}

bool SliceReader::ForEach(ByteSource& source, const Visit& visit) {
  sequences_.clear();
  Packets packets(source);
  for (std::string packet; packets.Next(packet);) Read(packet, visit);
  return packets.whole();
}

void SliceReader::Read(std::string_view bytes, const Visit& visit) {
  uint64_t number = 0, flags = 0;
  std::string_view track_event, names;
  for (WireMessage message(bytes); message.Next();) {
    if (message.field() == packet::kSequence) number = message.number();
    if (message.field() == packet::kFlags) flags = message.number();
    if (message.field() == packet::kEvent) track_event = message.bytes();
    if (message.field() == packet::kInterned) names = message.bytes();
    if (message.field() == packet::kTrack) ReadTrack(message.bytes());
  }
  if (track_event.empty() && names.empty() && flags == 0) return;
  Sequence& sequence = sequences_[number];
  if ((flags & packet::kStateCleared) != 0) sequence = {};
  if (!names.empty()) ReadNames(names, sequence);
  if (!track_event.empty()) ReadEvent(track_event, sequence, visit);
}

void SliceReader::ReadNames(std::string_view bytes, Sequence& sequence) {
  for (WireMessage message(bytes); message.Next();) {
    Names* names = message.field() == interned::kCategories    ? &sequence.categories
                   : message.field() == interned::kNames       ? &sequence.names
                   : message.field() == interned::kAnnotations ? &sequence.annotations
                   : message.field() == interned::kTexts       ? &sequence.texts
                                                               : nullptr;
    if (names == nullptr) continue;
    uint64_t number = 0;
    std::string_view text;
    for (WireMessage entry(message.bytes()); entry.Next();) {
      if (entry.field() == 1) number = entry.number();
      if (entry.field() == 2) text = entry.bytes();
    }
    (*names)[number] = text;
  }
}

void SliceReader::ReadTrack(std::string_view bytes) {
  constexpr uint64_t kProcess = 3, kPid = 1;
  for (WireMessage message(bytes); message.Next();) {
    if (message.field() != kProcess || pid_ != 0) continue;
    for (WireMessage process(message.bytes()); process.Next();)
      if (process.field() == kPid) pid_ = static_cast<int64_t>(process.number());
  }
}

void SliceReader::ReadEvent(std::string_view bytes, const Sequence& sequence, const Visit& visit) {
  uint64_t type = 0;
  slice_.category = slice_.name = {};
  slice_.annotations.clear();
  for (WireMessage message(bytes); message.Next();) {
    switch (message.field()) {
      case event::kType:
        type = message.number();
        break;
      case event::kCategoryId:
        slice_.category = NameOf(sequence.categories, message.number());
        break;
      case event::kCategory:
        slice_.category = message.bytes();
        break;
      case event::kNameId:
        slice_.name = NameOf(sequence.names, message.number());
        break;
      case event::kName:
        slice_.name = message.bytes();
        break;
      case event::kAnnotation: {
        Slice::Annotation& annotated = slice_.annotations.emplace_back();
        for (WireMessage part(message.bytes()); part.Next();) {
          const uint64_t field = part.field();
          if (field == annotation::kNameId) annotated.name = NameOf(sequence.annotations, part.number());
          if (field == annotation::kName) annotated.name = part.bytes();
          if (field == annotation::kText) annotated.text = part.bytes();
          if (field == annotation::kTextId) annotated.text = NameOf(sequence.texts, part.number());
          if (field == annotation::kBool || field == annotation::kUnsigned || field == annotation::kSigned)
            annotated.number = static_cast<int64_t>(part.number());
        }
        break;
      }
      default:
        break;
    }
  }
  if (type == event::kSliceBegin) visit(slice_);
}

}  // namespace dladvisor::pftrace
