// SPDX-License-Identifier: Apache-2.0
// Bars without a known total.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "src/trace/trace.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {

std::string Bar(int done, int seconds) {
  return fmt::format("Predicting DataLoader 0: |          | {}/? [{}:{:02}:{:02}<00:00,  0.05it/s]graph A\n",
                     done, seconds / 3600, seconds / 60 % 60, seconds % 60);
}

ProgramPart PartOf(const std::string& text) {
  const ProgramOutput output = test::ReadProgram("Using device: cuda:0\n" + text);
  EXPECT_EQ(output.parts.size(), 1u);
  return output.parts.empty() ? ProgramPart() : output.parts[0];
}

TEST(EndlessBars, ThePaceIsThatOfTheClock) {
  std::string text;
  for (int done = 0; done <= 600; ++done) text += Bar(done, 18 * done);
  const ProgramPart part = PartOf(text);
  EXPECT_EQ(part.name, "Predicting DataLoader #");
  EXPECT_EQ(part.done, 600);
  EXPECT_DOUBLE_EQ(part.ns, 10'800e9);
  EXPECT_DOUBLE_EQ(part.each_ns.value_or(0), 18e9);
}

TEST(EndlessBars, WhatWasDoneBeforeTheLogIsNotOfItsPace) {
  const ProgramPart part = PartOf(Bar(500, 3000) + Bar(510, 3200) + Bar(520, 3400));
  EXPECT_EQ(part.since, 500);
  EXPECT_DOUBLE_EQ(part.each_ns.value_or(0), 20e9);
}

TEST(EndlessBars, OneBehindTheOtherAreOfOneProgram) {
  std::string text;
  for (int bar = 0; bar < 4; ++bar)
    for (int done = 0; done <= 50 + 10 * bar; done += 5) text += Bar(done, 2 * done);
  const ProgramPart part = PartOf(text);
  EXPECT_EQ(part.count, 4);
  EXPECT_EQ(part.done, 260);
  EXPECT_DOUBLE_EQ(part.ns, 520e9);
}

// Two jobs write to one file, of which the log begins in the middle of one.
TEST(EndlessBars, OfThoseThatGoOnByTurnsTheLongest) {
  std::string text;
  for (int round = 0; round < 300; ++round)
    text += Bar(100 + round, 15 * (100 + round)) + (round < 20 ? "" : Bar(round - 20, 40 * (round - 20)));
  const ProgramPart part = PartOf(text);
  EXPECT_EQ(part.count, 1);
  EXPECT_EQ(part.done, 279);
  EXPECT_DOUBLE_EQ(part.each_ns.value_or(0), 40e9);
}

}  // namespace
}  // namespace dladvisor
