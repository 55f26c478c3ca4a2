// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/nvtx.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "src/importers/nsys/import_context.h"
#include "src/importers/nsys/parts.h"

namespace dladvisor::nsys {

namespace {

// ENUM_NSYS_EVENT_TYPE. The "NvtxT" codes are ranges that were imported from text files.
enum EventType : int64_t {
  kMark = 34,
  kNameThread = 39,
  kPushPop = 59,
  kStartEnd = 60,
  kTextMark = 65,
  kTextPushPop = 70,
  kTextStartEnd = 71,
  kDomainCreate = 75,
};

std::optional<RangeKind> KindOf(int64_t type) {
  switch (type) {
    case kPushPop:
    case kTextPushPop:
      return RangeKind::kPushPop;
    case kStartEnd:
    case kTextStartEnd:
      return RangeKind::kStartEnd;
    case kMark:
    case kTextMark:
      return RangeKind::kMark;
    default:
      return std::nullopt;
  }
}

// The name of each used domain; the default domain has none. Older exports list the names apart.
std::vector<NameId> NamesOf(const Domains& domains, Context& in) {
  std::map<int64_t, NameId> listed;
  Rows old(in.db, "DomainStrings", {"id", "domainName"});
  while (old.Next())
    if (const auto id = old.Integer(0)) listed[*id] = in.names.Of(old, 1);
  std::vector<NameId> names = domains.names();
  for (size_t i = 0; i < names.size(); ++i) {
    const int64_t number = domains.keys()[i].second;
    if (names[i] != kNoName || number == 0) continue;
    const auto named = listed.find(number);
    names[i] =
        named != listed.end() ? named->second : in.trace.names.Intern(fmt::format("domain {}", number));
  }
  return names;
}

// The last moment at which anything is known to have happened on each thread.
std::vector<Ns> LastEvents(const Trace& trace) {
  std::vector<Ns> last(trace.threads.size(), std::numeric_limits<Ns>::min());
  const auto see = [&](const auto& events) {
    for (size_t i = 0; i < events.size(); ++i)
      last[events.thread[i]] = std::max(last[events.thread[i]], events.end[i]);
  };
  see(trace.api_calls);
  see(trace.os_calls);
  see(trace.overheads);
  see(trace.ranges);  // an open range counts with its start
  return last;
}

constexpr std::string_view kTable = "NVTX_EVENTS";

// With the index of the domain in place of its name.
void ReadRows(Context& in) {
  enum : size_t { kType = 2, kText, kTextId, kDomain, kThread };
  Ranges& r = in.trace.ranges;
  Activity activity(in, kTable, {"start", "end", "eventType", "text", "textId", "domainId", "globalTid"},
                    Activity::End::kOptional);
  const Rows& rows = activity.rows();
  if (r.size() == 0) Reserve(r, rows.SizeHint());
  activity.ForEach([&] {
    const int64_t type = rows.Integer(kType, kPushPop);
    const auto global_tid = rows.Integer(kThread);
    const auto kind = KindOf(type);
    if (!kind && type != kDomainCreate && type != kNameThread) return;  // categories, resource names
    if (!global_tid || (kind && activity.start() < 0)) return activity.Skip();
    const NameId name = rows.IsText(kText) ? in.names.Of(rows, kText) : in.names.Of(rows, kTextId);
    const int64_t domain = rows.Integer(kDomain, 0);
    if (type == kDomainCreate) {
      in.domains.SetName(in.hosts.Process(*global_tid), domain, name);
      return;
    }
    const uint32_t thread = in.hosts.Thread(*global_tid);
    if (type == kNameThread) {
      if (in.trace.threads[thread].name.empty()) in.trace.threads[thread].name = in.trace.names.View(name);
      return;
    }
    const bool open = *kind != RangeKind::kMark && !activity.has_end();
    r.start.push_back(activity.start());
    r.end.push_back(*kind == RangeKind::kMark ? activity.start() : activity.end());
    r.thread.push_back(thread);
    r.name.push_back(name);
    r.domain.push_back(in.domains.Use(in.trace.threads[thread].process, domain));
    r.kind.push_back(*kind);
    r.open.push_back(open ? 1 : 0);
  });
}

}  // namespace

void PlanNvtx(const Database& db, Parts& parts) { parts.Plan(db, kTable, ReadRows); }

void ReadNvtx(Context& in) {
  Ranges& r = in.trace.ranges;
  Reserve(r, static_cast<size_t>(in.db.LastRow(kTable)));
  in.parts->Read(in, kTable, ReadRows);
  const std::vector<NameId> domain_names = NamesOf(in.domains, in);
  IndexColumn domain;  // a new one, as names may be smaller than the numbers of their domains
  domain.reserve(r.size());
  for (size_t i = 0; i < r.size(); ++i) domain.push_back(domain_names[r.domain[i]]);
  r.domain = std::move(domain);

  if (r.open.width() > 0) {  // not all are 0
    const std::vector<Ns> last = LastEvents(in.trace);
    for (size_t i = 0; i < r.size(); ++i)
      if (r.open[i]) r.end[i] = last[r.thread[i]];
  }
}

}  // namespace dladvisor::nsys
