#include "src/gate/verdict.h"

namespace dladvisor {

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kImproved:
      return "improved";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kRegressed:
      return "regressed";
    case Verdict::kNotComparable:
      return "not comparable";
  }
  return "";
}

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kOff:
      return "off";
    case Level::kExplain:
      return "explain";
    case Level::kWarn:
      return "warn";
    case Level::kError:
      return "error";
  }
  return "";
}

}  // namespace dladvisor
