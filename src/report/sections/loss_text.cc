// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/loss_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "engine/model/savings.h"
#include "src/render/bucket_words.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/finding_words.h"
#include "src/report/sections/findings_section.h"
#include "src/report/sections/host_alone.h"
#include "src/report/sections/ledger_section.h"

namespace dladvisor {
namespace {

// What the work needs of the time that is spent computing: where a part of it is not known, all of that part.
std::optional<double> LeastComputing(const ReportModel& model, double computing_ns, double total_ns) {
  const auto least = FigureNumber(model, "speed_of_light"), known = FigureNumber(model, "known_work_share");
  if (!least || !known) return std::nullopt;
  return std::min(*least * total_ns + (1 - *known) * computing_ns, computing_ns);
}

// "99.7 % of 842 ms per step are spent computing, where 310 ms would do on this GPU"; where that is not known
// "..., 98.2 % without tensor cores".
std::string ComputeText(const ReportModel& model, double lost_share, const std::string& of, double total_ns) {
  double total = 0, other = 0, tensor = 0;
  for (const Segment& segment : HeadlineSegments(model)) {
    total += segment.value;
    if (segment.label == "compute/tensor") tensor = segment.value;
    if (segment.label == "compute/other") other = segment.value;
  }
  const std::string computing = FormatValue(1 - lost_share, Unit::kRatio);
  const std::string text = fmt::format("{} of {} are spent computing", computing, of);
  const double computing_ns = (1 - lost_share) * total_ns;
  if (const auto least = LeastComputing(model, computing_ns, total_ns)) {
    const std::string enough = FormatValue(*least, Unit::kNanoseconds);
    return enough == FormatValue(computing_ns, Unit::kNanoseconds)
               ? text
               : fmt::format("{}, where {} would do on this GPU", text, enough);
  }
  // Where no op could use tensor cores, nor do without them.
  if (!(total > 0) || !FigureNumber(model, "tensor_core_efficiency")) return text;
  const bool on = tensor > other;
  const std::string part = FormatValue(std::max(tensor, other) / total, Unit::kRatio);
  return fmt::format("{}, {} {} tensor cores", text, part == computing ? "all of it" : part,
                     on ? "on" : "without");
}

// What to trace so that idleness gets a cause: calls that launch, ranges, what threads do in the system.
// Where the stacks of Python are there, nothing more can be asked for.
std::string FlagsForIdleCauses(const ReportModel& model) {
  const ReportTable* recorded = FindTable(model, "recorded");
  const auto holds = [&](const char* what) {
    return recorded != nullptr && !recorded->rows.rows.empty() &&
           AsNumber(CellOf(*recorded, 0, what)).value_or(0) > 0;
  };
  if (holds("python_calls")) return "";
  const bool traced = holds("calls_ranges_and_os_calls");
  const CaptureWords& words = WordsOf(model);
  return std::string(traced ? words.idle_causes_beyond_calls : words.idle_causes);
}

// ", 52.1 ms of it to data loading": the largest part of what is lost, and what the finding to begin with is
// taken from.
std::string CauseText(const ReportModel& model, const std::string& lost,
                      const std::optional<SavingClaim>& claim) {
  const std::vector<Segment> segments = HeadlineSegments(model);
  const Segment *largest = nullptr, *taken = nullptr;
  for (const Segment& segment : segments) {
    if (segment.label.starts_with("compute/")) continue;
    if (largest == nullptr || segment.value > largest->value) largest = &segment;
    if (claim && claim->bucket == segment.label) taken = &segment;
  }
  if (largest == nullptr || !(largest->value > 0)) return "";
  const std::string part = largest->text == lost ? "all" : largest->text;
  if (largest->label == "idle/unknown") {
    const std::string flags = FlagsForIdleCauses(model);
    return fmt::format(", {} of it idle for a reason that the profile does not show{}", part,
                       flags.empty() ? "" : fmt::format(" (capture with {} to find it)", flags));
  }
  std::string text = fmt::format(", {} of it to {}", part, BucketWords(largest->label));
  if (taken != nullptr && taken != largest)
    text += fmt::format(" and {} to {}", taken->text, BucketWords(taken->label));
  return text;
}

// ", and 10.1 ms are spent computing where 3.41 ms would do on this GPU", where that is known and matters.
std::string HeadroomText(const ReportModel& model, double computing_ns, double total_ns) {
  const auto least = LeastComputing(model, computing_ns, total_ns);
  if (!least || computing_ns - *least < kSmallLoss * total_ns) return "";
  return fmt::format(", and {} are spent computing where {} would do on this GPU",
                     FormatValue(computing_ns, Unit::kNanoseconds), FormatValue(*least, Unit::kNanoseconds));
}

double SavedOfComputing(const std::optional<SavingClaim>& claim) {
  return claim && OfComputing(*claim) ? claim->high_ns.value_or(0) : 0;
}

// ", unless the program pauses in the 10.3 min of one gap": minutes without a call in which nothing shows
// that the host computes.
std::string PauseText(const Advice& advice) {
  for (const size_t root : advice.Roots()) {
    const Finding& gaps = advice.findings[root];
    if (gaps.rule != "gpu-gaps" || !gaps.saves || gaps.saves->high_ns != 0) continue;
    double alone = 0, longest_ns = 0;
    for (const NamedValue& known : gaps.lets) {
      if (known.name == "alone") alone = AsNumber(known.value).value_or(0);
      if (known.name == "longest_gap") longest_ns = AsNumber(known.value).value_or(0);
    }
    if (alone > 0)
      return fmt::format(", unless the program pauses in the {} of one gap",
                         FormatValue(longest_ns, Unit::kNanoseconds));
  }
  return "";
}

// ", most of it in a few of the steps": pauses of a loop that measures one kernel.
std::string FewStepsText(const ReportModel& model, double lost_ns) {
  const auto varies = FindingOf(*model.advice, "step-time-varies");
  if (!varies || !Holds(model.advice->findings[*varies], "benchmark")) return "";
  for (const NamedValue& known : model.advice->findings[*varies].lets)
    if (known.name == "median_ns" &&
        FigureNumber(model, "step_time").value_or(0) - AsNumber(known.value).value_or(0) > lost_ns / 2)
      return ", most of it in a few of the steps";
  return "";
}

// What the GPU does not work in passes until the next frame.
bool IsPaced(const Advice& advice) {
  const std::vector<size_t> roots = advice.Roots();
  return std::ranges::any_of(roots,
                             [&](size_t root) { return advice.findings[root].rule == "paced-by-frames"; });
}

}  // namespace

bool OfComputing(const SavingClaim& claim) {
  return claim.bucket == kAllBuckets || claim.bucket.starts_with("compute");
}

bool LossAwaitsAnotherCapture(const ReportModel& model) {
  double lost = 0, unknown = 0;
  for (const Segment& segment : HeadlineSegments(model)) {
    if (segment.label.starts_with("compute/")) continue;
    lost += segment.value;
    if (segment.label == "idle/unknown") unknown += segment.value;
  }
  return unknown > lost / 2 && !FlagsForIdleCauses(model).empty();
}

std::string LossText(const ReportModel& model, const std::optional<SavingClaim>& claim) {
  for (const auto& [lost, total, of] : {std::tuple{"lost_per_step", "step_time", "{} per step"},
                                        {"lost_in_window", "window", "the analysed {}"}}) {
    const auto lost_ns = FigureNumber(model, lost), total_ns = FigureNumber(model, total);
    if (!lost_ns || !total_ns) continue;
    const std::string whole = fmt::format(fmt::runtime(of), FigureText(model, total));
    if (!(*total_ns > 0)) return fmt::format("{} of {} are lost", FigureText(model, lost), whole);
    const double share = *lost_ns / *total_ns;
    if (share < kSmallLoss) return ComputeText(model, share, whole, *total_ns);
    if (IsPaced(*model.advice))
      return fmt::format("The GPU has no work for {} of {} ({:.0f} %), as the program waits for its frames",
                         FigureText(model, lost), whole, share * 100);
    const bool saves_more = SavedOfComputing(claim) > *lost_ns;
    const std::string few = FewStepsText(model, *lost_ns);
    return fmt::format("{} of {} are lost{} ({:.0f} %){}{}{}", FigureText(model, lost), whole,
                       saves_more ? " besides computing" : "", share * 100,
                       saves_more     ? ""
                       : !few.empty() ? few
                                      : CauseText(model, FigureText(model, lost), claim),
                       PauseText(*model.advice), HeadroomText(model, *total_ns - *lost_ns, *total_ns));
  }
  return "How much time is lost is unknown";
}

std::string ColdCallText(const ReportModel& model, const Finding& finding) {
  const auto computing = std::ranges::find(finding.lets, "computing_ns", &NamedValue::name);
  const double ns = computing == finding.lets.end() ? 0 : AsNumber(computing->value).value_or(0);
  const auto whole_ns = FigureNumber(model, "window");
  if (!(ns > 0) || !whole_ns) return LossText(model, std::nullopt);
  return fmt::format("The GPU computes for {}{}, which tells little of a program at work",
                     FormatValue(ns, Unit::kNanoseconds),
                     ns < (1 - kSmallLoss) * *whole_ns ? " of " + FigureText(model, "window") : "");
}

std::string ShareText(const ReportModel& model, const Finding& finding) {
  if (!finding.saves || finding.saves->bucket == "idle/compilation") return "";
  const bool has_steps = FigureNumber(model, "step_time").has_value(),
             computing = OfComputing(*finding.saves);
  const auto whole = FigureNumber(model, computing ? (has_steps ? "step_time" : "window")
                                                   : (has_steps ? "lost_per_step" : "lost_in_window"));
  const double low = finding.saves->low_ns.value_or(0), high = finding.saves->high_ns.value_or(0);
  if (!whole || !(*whole > 0) || !(high > 0) || high > *whole) return "";
  const std::string least = fmt::format("{:.0f}", low / *whole * 100),
                    most = fmt::format("{:.0f}", high / *whole * 100);
  return fmt::format(" ({}{} % of {})",
                     !(low > 0)      ? "up to "
                     : least == most ? ""
                                     : least + " – ",
                     most,
                     !computing  ? "the loss"
                     : has_steps ? "the step"
                                 : "the time");
}

}  // namespace dladvisor
