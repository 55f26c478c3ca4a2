// SPDX-License-Identifier: Apache-2.0
// The views under nsys' names against what `nsys stats` printed of the same export.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "src/analysis/compat/views.h"
#include "src/fleet/load_profiles.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

struct Report {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// Tables under " ** Title (name):", whose columns lie under runs of dashes.
std::map<std::string, Report> ReadReports(const fs::path& path) {
  std::map<std::string, Report> reports;
  std::istringstream in(test::ReadFile(path));
  std::string line, header, name;
  std::vector<std::pair<size_t, size_t>> spans;
  while (std::getline(in, line)) {
    if (line.starts_with(" ** ")) {
      name = line.substr(line.rfind('(') + 1, line.rfind(')') - line.rfind('(') - 1);
      spans.clear();
    } else if (!name.empty() && line.starts_with(" -")) {
      for (size_t at = line.find('-'); at != std::string::npos;) {
        const size_t end = std::min(line.find(' ', at), line.size());
        spans.emplace_back(at, end);
        reports[name].columns.push_back(Trimmed(header.substr(at, end - at)));
        at = line.find('-', end);
      }
    } else if (!spans.empty() && line.empty()) {
      name.clear();
      spans.clear();
    } else if (!spans.empty()) {
      auto& row = reports[name].rows.emplace_back();
      for (size_t i = 0; i < spans.size(); ++i) {
        const size_t start = std::min(spans[i].first, line.size());
        row.push_back(
            Trimmed(line.substr(start, i + 1 == spans.size() ? std::string::npos : spans[i].second - start)));
      }
    }
    header = line;
  }
  return reports;
}

class NsysStats : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path text = test::DataDir() / "nsys_text/zx3xyy_assignment2-systems/nsys_stats--88c5198e.txt";
    const fs::path profile =
        test::DataDir() / "nsys_sqlite/zx3xyy_assignment2-systems/result_2_7B--509f5606.sqlite";
    if (!fs::exists(text) || !fs::exists(profile)) GTEST_SKIP() << "no " << text << " or " << profile;
    reports_ = ReadReports(text);
    profile_ = LoadProfile(profile, {});
  }

  std::map<std::string, Report> reports_;
  Profile profile_;
};

// Every figure of every report that both have; nsys rounds to the decimals that it prints.
TEST_F(NsysStats, PrintsTheSameFigures) {
  const Database db = profile_.OpenDatabase();
  size_t compared = 0;
  for (const View& view : NsysViews()) {
    const auto report = reports_.find(view.name);
    if (report == reports_.end()) continue;  // nsys skips reports without data
    SCOPED_TRACE(view.name);
    const ResultSet result = db.Query("SELECT * FROM " + view.name);
    EXPECT_EQ(result.rows.size(), report->second.rows.size());
    // nsys cuts long names, which may then be alike: the total distinguishes them.
    const auto find = [&](const std::vector<std::string>& expected) {
      const size_t cut = expected.back().find("…");
      return std::ranges::find_if(result.rows, [&](const std::vector<Value>& row) {
        const auto& name = std::get<std::string>(row.back());
        return cut == std::string::npos ? name == expected.back()
                                        : name.starts_with(expected.back().substr(0, cut)) &&
                                              row[1] == Value(int64_t{std::stoll(expected[1])});
      });
    };
    std::vector<std::string> columns;
    for (const ResultColumn& column : result.columns) columns.push_back(column.name);
    EXPECT_EQ(columns, report->second.columns);
    for (const std::vector<std::string>& expected : report->second.rows) {
      const auto actual = find(expected);
      ASSERT_TRUE(actual != result.rows.end()) << expected.back();
      for (size_t c = 0; c + 1 < expected.size(); ++c) {
        const size_t point = expected[c].find('.');
        const double unit = point == std::string::npos
                                ? 1
                                : std::pow(10, -static_cast<double>(expected[c].size() - point - 1));
        EXPECT_NEAR(AsNumber((*actual)[c]).value_or(NAN), std::stod(expected[c]), 0.51 * unit)
            << expected.back() << " " << columns[c];
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 500u);
}

}  // namespace
}  // namespace dladvisor
