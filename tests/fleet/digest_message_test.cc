// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/digest_message.h"

#include <gtest/gtest.h>

#include <utility>

#include "engine/base/error.h"
#include "src/fleet/digest_writer.h"

namespace dladvisor {
namespace {

Digest DigestOfGpus() {
  Digest digest;
  Table table({"gpu",
               "One row per device.",
               {"rank"},
               {{"rank", Type::kInteger, Unit::kNone, "Rank.", false, ""},
                {"name", Type::kText, Unit::kText, "Name.", true, ""},
                {"idle_share", Type::kReal, Unit::kRatio, "Idle.", true, "gpu-work"}}});
  table.AddRow({int64_t{-7}, std::string("NVIDIA\0A100", 11), 0.25});
  table.AddRow({int64_t{1} << 62, Value(), Value()});
  digest.relations.push_back(std::move(table));
  digest.relations.emplace_back(
      Schema{"empty", "No rows.", {}, {{"x", Type::kInteger, Unit::kNone, "X.", false, ""}}});
  KernelSequence sequence;
  sequence.rank = 3;
  sequence.device = 1;
  sequence.fingerprint = 0xfedcba9876543210;
  sequence.names = {"gemm", ""};
  sequence.communication = {0, 1};
  sequence.blocks = {1.5, 0};
  sequence.steps = {{10, 5, 9, std::nullopt, 2}, {11, 15, 19, 8, 2}};
  sequence.other_steps = 4;
  sequence.encoded = std::string("\0\x80", 2);
  digest.sequences.push_back(sequence);
  CollectiveTrack track;
  track.rank = 3;
  track.device = 1;
  track.kinds = {{"AllReduce", "world", "0-7", 2}};
  track.calls.resize(1);
  track.calls[0].step = 10;
  track.calls[0].start = 100;
  track.calls[0].end = 250;
  track.calls[0].exposed_from = 250;
  track.calls[0].bytes = 4096;
  digest.collectives.push_back(track);
  return digest;
}

TEST(Message, RoundTrip) {
  const Digest digest = DigestOfGpus();
  std::string bytes;
  PutDigest(digest, bytes);
  PutDigest({}, bytes);
  std::string_view in = bytes;
  const Digest same = TakeDigest(in);
  const Digest empty = TakeDigest(in);
  EXPECT_TRUE(in.empty());
  EXPECT_TRUE(empty.relations.empty() && empty.sequences.empty() && empty.collectives.empty());
  ASSERT_EQ(same.relations.size(), 2u);
  const Table& table = same.relations[0];
  EXPECT_EQ(table.schema().name, "gpu");
  EXPECT_EQ(table.schema().columns[2].name, "idle_share");
  EXPECT_EQ(table.schema().columns[2].type, Type::kReal);
  ASSERT_EQ(table.rows(), 2u);
  for (size_t row = 0; row < 2; ++row)
    for (size_t column = 0; column < 3; ++column)
      EXPECT_EQ(table.ValueAt(row, column), digest.relations[0].ValueAt(row, column));
  EXPECT_EQ(same.relations[1].schema().name, "empty");
  EXPECT_EQ(same.relations[1].rows(), 0u);
  // The same sequences and tracks give the same bytes in a digest.
  Digest a, b;
  a.sequences = digest.sequences;
  a.collectives = digest.collectives;
  b.sequences = same.sequences;
  b.collectives = same.collectives;
  EXPECT_EQ(SerializeDigest(a), SerializeDigest(b));
}

TEST(Message, CutShort) {
  std::string bytes;
  PutDigest(DigestOfGpus(), bytes);
  for (size_t length = 0; length < bytes.size(); ++length) {
    std::string_view in = std::string_view(bytes).substr(0, length);
    EXPECT_THROW(TakeDigest(in), Error) << length;
  }
}

}  // namespace
}  // namespace dladvisor
