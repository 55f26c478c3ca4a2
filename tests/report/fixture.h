// SPDX-License-Identifier: Apache-2.0
// A small run written by hand: relations of which a test gives some columns and the rest are NULL, and an
// advice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/report/report.h"

namespace dladvisor::test {

using Row = std::map<std::string, Value>;

class FakeRun {
 public:
  // Adds rows to a relation; unknown relations or columns abort.
  FakeRun& Give(const std::string& relation, const std::vector<Row>& rows);
  // The database over what was given; relations not given are empty, those in `absent` not there at all.
  Database Build(const std::vector<std::string>& absent = {});

 private:
  std::map<std::string, std::vector<Row>> rows_;
  std::vector<std::shared_ptr<const Table>> tables_;  // which the database reads
};

// Names that try to break out of every format.
extern const std::string kHostileName;

// One GPU, four steps of 12 ms, some ops, a hostile op and kernel.
FakeRun TypicalRun();
// One GPU whose time ledger holds these buckets, and nothing else.
FakeRun RunWithLedger(const std::vector<std::pair<const char*, int64_t>>& buckets);
// Two fired findings, the second caused by the first, one unknown, one suppressed, one clear.
Advice TypicalAdvice();

Finding MakeFinding(const std::string& rule, Severity severity, Outcome outcome);
// A condition that holds, with the values that it compared.
ConditionTrace Compared(const std::string& left, const std::string& op, const std::string& right, Value here,
                        Value limit, Unit unit);

inline constexpr ReportFormat kFormats[] = {ReportFormat::kHtml, ReportFormat::kMarkdown, ReportFormat::kJson,
                                            ReportFormat::kText};

inline const ReportOptions kOptions{"gpt3_750m_naive", "", "dladvisor 0.1.0", false};

std::string Render(FakeRun run, const Advice& advice, ReportFormat format,
                   const ReportOptions& options = kOptions);
// How often `part` is in `text`.
size_t Count(const std::string& text, const std::string& part);

// Without findings.
std::string Render(FakeRun run, ReportFormat format);

}  // namespace dladvisor::test
