// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/digest_message.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "src/analysis/context/varint.h"

namespace dladvisor {
namespace {

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void PutNumber(int64_t number) { PutVarint(out_, number); }
  void PutSize(size_t size) { PutNumber(static_cast<int64_t>(size)); }
  void PutReal(double number) { PutNumber(std::bit_cast<int64_t>(number)); }
  void PutText(std::string_view text) {
    PutSize(text.size());
    out_ += text;
  }
  void PutValue(const Value& value) {
    PutSize(value.index());
    if (const auto* integer = std::get_if<int64_t>(&value)) PutNumber(*integer);
    if (const auto* real = std::get_if<double>(&value)) PutReal(*real);
    if (const auto* text = std::get_if<std::string>(&value)) PutText(*text);
  }

 private:
  std::string& out_;
};

class Reader {
 public:
  explicit Reader(std::string_view& in) : in_(in) {}

  int64_t Number() {
    VarintReader reader(in_, kMessage);
    const int64_t number = reader.Next();
    in_.remove_prefix(reader.position());
    return number;
  }
  // How many of something follow, each of at least one byte.
  size_t Size() {
    const auto size = static_cast<size_t>(Number());
    if (size > in_.size()) throw Error(kMessage, "is cut short");
    return size;
  }
  double Real() { return std::bit_cast<double>(Number()); }
  std::string Text() {
    const size_t size = Size();
    std::string text(in_.substr(0, size));
    in_.remove_prefix(size);
    return text;
  }
  ::dladvisor::Value Value() {
    switch (Number()) {
      case 1:
        return Number();
      case 2:
        return Real();
      case 3:
        return Text();
      default:
        return {};
    }
  }

 private:
  static constexpr const char* kMessage = "message";
  std::string_view& in_;
};

void PutTable(const Table& table, Writer& out) {
  const Schema& schema = table.schema();
  out.PutText(schema.name);
  out.PutSize(schema.columns.size());
  for (const Column& column : schema.columns) {
    out.PutText(column.name);
    out.PutNumber(static_cast<int64_t>(column.type));
  }
  out.PutSize(table.rows());
  for (size_t row = 0; row < table.rows(); ++row)
    for (size_t column = 0; column < schema.columns.size(); ++column)
      out.PutValue(table.ValueAt(row, column));
}

Table TakeTable(Reader& in) {
  Schema schema;
  schema.name = in.Text();
  schema.columns.resize(in.Size());
  for (Column& column : schema.columns) {
    column.name = in.Text();
    column.type = static_cast<Type>(in.Number());
  }
  const size_t columns = schema.columns.size();
  Table table(std::move(schema));
  const size_t rows = in.Size();
  table.Reserve(rows);
  for (size_t i = 0; i < rows; ++i) {
    std::vector<Value> row;
    row.reserve(columns);
    for (size_t column = 0; column < columns; ++column) row.push_back(in.Value());
    table.AddRow(row);
  }
  return table;
}

void PutSequence(const KernelSequence& sequence, Writer& out) {
  out.PutNumber(sequence.rank);
  out.PutNumber(sequence.device);
  out.PutNumber(static_cast<int64_t>(sequence.fingerprint));
  out.PutSize(sequence.length());
  for (size_t i = 0; i < sequence.length(); ++i) {
    out.PutText(sequence.names[i]);
    out.PutNumber(static_cast<int64_t>(sequence.communication[i]));
    out.PutReal(sequence.blocks[i]);
  }
  out.PutSize(sequence.steps.size());
  for (const KernelSequence::Step& step : sequence.steps) {
    out.PutNumber(step.number);
    out.PutNumber(step.start_ns);
    out.PutNumber(step.end_ns);
    out.PutValue(step.to_sync_ns ? Value(*step.to_sync_ns) : Value());
    out.PutNumber(step.blocks);
  }
  out.PutNumber(sequence.other_steps);
  out.PutText(sequence.encoded);
}

KernelSequence TakeSequence(Reader& in) {
  KernelSequence sequence;
  sequence.rank = in.Number();
  sequence.device = in.Number();
  sequence.fingerprint = static_cast<uint64_t>(in.Number());
  for (size_t left = in.Size(); left > 0; --left) {
    sequence.names.push_back(in.Text());
    sequence.communication.push_back(static_cast<uint8_t>(in.Number()));
    sequence.blocks.push_back(in.Real());
  }
  sequence.steps.resize(in.Size());
  for (KernelSequence::Step& step : sequence.steps) {
    step.number = in.Number();
    step.start_ns = in.Number();
    step.end_ns = in.Number();
    if (const Value to_sync = in.Value(); !IsNull(to_sync)) step.to_sync_ns = std::get<int64_t>(to_sync);
    step.blocks = in.Number();
  }
  sequence.other_steps = in.Number();
  sequence.encoded = in.Text();
  return sequence;
}

void PutTrack(const CollectiveTrack& track, Writer& out) {
  out.PutNumber(track.rank);
  out.PutNumber(track.device);
  out.PutSize(track.kinds.size());
  for (const CollectiveTrack::Kind& kind : track.kinds) {
    out.PutText(kind.collective);
    out.PutText(kind.group);
    out.PutText(kind.group_ranks);
    out.PutNumber(kind.stream);
  }
  out.PutText(EncodeCalls(track.calls));
}

CollectiveTrack TakeTrack(Reader& in) {
  CollectiveTrack track;
  track.rank = in.Number();
  track.device = in.Number();
  track.kinds.resize(in.Size());
  for (CollectiveTrack::Kind& kind : track.kinds) {
    kind.collective = in.Text();
    kind.group = in.Text();
    kind.group_ranks = in.Text();
    kind.stream = in.Number();
  }
  track.calls = DecodeCalls(in.Text(), track.kinds.size());
  return track;
}

}  // namespace

void PutDigest(const Digest& digest, std::string& bytes) {
  Writer out(bytes);
  out.PutSize(digest.relations.size());
  for (const Table& table : digest.relations) PutTable(table, out);
  out.PutSize(digest.sequences.size());
  for (const KernelSequence& sequence : digest.sequences) PutSequence(sequence, out);
  out.PutSize(digest.collectives.size());
  for (const CollectiveTrack& track : digest.collectives) PutTrack(track, out);
}

Digest TakeDigest(std::string_view& bytes) {
  Reader in(bytes);
  Digest digest;
  for (size_t left = in.Size(); left > 0; --left) digest.relations.push_back(TakeTable(in));
  for (size_t left = in.Size(); left > 0; --left) digest.sequences.push_back(TakeSequence(in));
  for (size_t left = in.Size(); left > 0; --left) digest.collectives.push_back(TakeTrack(in));
  return digest;
}

}  // namespace dladvisor
