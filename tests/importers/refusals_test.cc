// SPDX-License-Identifier: Apache-2.0
// What is said of texts that are not read.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::RefusalOf;
using testing::HasSubstr;

// Of which column names are not known.
TEST(Refusals, ATableInWhichNothingChangesIsOfGpusWithoutWork) {
  std::string still, works;
  for (int second = 0; second < 100; ++second)
    for (const int memory : {11409, 10851, 13325}) {
      still += fmt::format("2025-11-20 14:{}:{:02}, 0, {}\n", 14 + second / 60, second % 60, memory);
      works += fmt::format("2025-11-20 14:{}:{:02}, {}, {}\n", 14 + second / 60, second % 60, second, memory);
    }
  EXPECT_THAT(RefusalOf(still), HasSubstr("300 rows with no more than 3 different ones"));
  EXPECT_THAT(RefusalOf(works), HasSubstr("without names of its columns or units"));
}

TEST(Refusals, StepsAndLossesAloneAreATrainings) {
  EXPECT_EQ(
      test::ReadTrainingLog(
          test::LinesOf(0, 30, 1, [](int step) { return fmt::format("{} train 10.98{}", step, step); }) +
          "30 val 9.9812\n")
          .loss_lines,
      31);
  EXPECT_EQ(test::ReadTrainingLog(
                "Total batch size 8,192\nstep 00000/00050 (0.00%) | loss: 6.930737 | lrm: 0.03 | dt: "
                "1722.64ms | tok/sec: 4,755 | mfu: 0.03\n")
                .first_steps,
            1);
}

}  // namespace
}  // namespace dladvisor
