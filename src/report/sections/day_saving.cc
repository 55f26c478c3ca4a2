// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/day_saving.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace dladvisor {
namespace {

constexpr double kHours = 24, kWattsPerKilowatt = 1000;

struct Range {
  double low = 0, high = 0;
};

std::string Amount(double value) {
  return value >= 1000 ? FormatValue(value, Unit::kCount)
                       : fmt::format("{:.{}f}", value, value >= 100 ? 0 : 2);
}

std::string RangeText(const Range& range, const std::string& unit) {
  const std::string low = Amount(range.low), high = Amount(range.high);
  const std::string amount = !(range.low > 0) ? "up to " + high : low == high ? high : low + " – " + high;
  return unit.empty() ? amount : amount + " " + unit;
}

std::string Words(const ReportModel& model, const Range& money, bool has_money, const Range& kwh,
                  bool has_kwh) {
  std::string text;
  if (has_money) text = RangeText(money, model.options.price.currency);
  if (has_kwh) text += (text.empty() ? "" : " and ") + RangeText(kwh, "kWh");
  return text.empty() ? "" : text + " per day";
}

}  // namespace

std::optional<DaySaving> PerDay(const ReportModel& model, const SavingClaim& saves) {
  const auto step = FigureNumber(model, "step_time");
  const auto whole = step ? step : FigureNumber(model, "window");
  const auto gpus = FigureNumber(model, "gpus");
  const double high = saves.high_ns.value_or(0);
  if (!whole || !(*whole > 0) || !gpus || !(high > 0) || saves.bucket == "idle/compilation")
    return std::nullopt;
  const auto hours = [&](double ns) { return kHours * *gpus * std::min(ns / *whole, 1.0); };
  DaySaving day;
  day.low_gpu_hours = hours(saves.low_ns.value_or(0));
  day.high_gpu_hours = hours(high);
  if (const auto& price = model.options.price.per_gpu_hour) {
    day.low_money = day.low_gpu_hours * *price;
    day.high_money = day.high_gpu_hours * *price;
  }
  if (const auto watts =
          FigureNumber(model, saves.bucket.starts_with("idle") ? "idle_power" : "mean_power")) {
    day.low_kwh = day.low_gpu_hours * *watts / kWattsPerKilowatt;
    day.high_kwh = day.high_gpu_hours * *watts / kWattsPerKilowatt;
  }
  return day;
}

std::string DayText(const ReportModel& model, const SavingClaim& saves) {
  const auto day = PerDay(model, saves);
  if (!day) return "";
  return Words(model, {day->low_money.value_or(0), day->high_money.value_or(0)}, day->high_money.has_value(),
               {day->low_kwh.value_or(0), day->high_kwh.value_or(0)}, day->high_kwh.has_value());
}

std::string TotalDayText(const ReportModel& model) {
  Range money, kwh;
  bool has_money = false, has_kwh = true, any = false;
  for (const BucketSaving& saving : model.advice->savings) {
    const auto day = PerDay(model, {saving.bucket, saving.low_ns, saving.high_ns, {}});
    if (!day) continue;
    any = true;
    has_money = has_money || day->high_money.has_value();
    money.low += day->low_money.value_or(0);
    money.high += day->high_money.value_or(0);
    has_kwh = has_kwh && day->high_kwh.has_value();  // else the sum would lack some
    kwh.low += day->low_kwh.value_or(0);
    kwh.high += day->high_kwh.value_or(0);
  }
  return any ? Words(model, money, has_money, kwh, has_kwh) : "";
}

}  // namespace dladvisor
