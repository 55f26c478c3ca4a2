// SPDX-License-Identifier: Apache-2.0
// ./dev bench [KERNELS], ./dev bench shape NAME [KERNELS]: the report of each shape of exports and traces as
// a multiple of its floor (floor.h), at a tenth and at all of KERNELS, the growth from one to the other, and
// the most memory that belongs to no file. `./dev bench 10000000` is the full case: 10 million kernels, 12
// million API calls, 5 million ranges, 4 GPUs, 2 GB; traces of 5 million events.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/base/error.h"
#include "tests/bench/bench.h"
#include "tests/bench/child.h"
#include "tests/bench/chrome_trace.h"
#include "tests/bench/export.h"
#include "tests/bench/floor.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

struct Figures {
  double floor = 1e300;  // seconds
  ChildRun report{1e300, 0};
  double ratio() const { return report.seconds / floor; }
};

// The shape that is worst by each figure.
struct Worst {
  double value = 0;
  std::string name;
  void See(double other, std::string_view of) {
    if (other > value) {
      value = other;
      name = of;
    }
  }
};

void Report(const fs::path& profile, Figures& figures) {
  const ChildRun run = RunChild({"report", profile.string(), "-o", profile.string() + ".html"});
  figures.report.seconds = std::min(figures.report.seconds, run.seconds);
  figures.report.peak_anonymous_mb = std::max(figures.report.peak_anonymous_mb, run.peak_anonymous_mb);
}

// Floor and report are programs of their own, each with memory that it gets from the system. Where a packed
// profile lies beside the plain one, the report is of that.
Figures Measure(const fs::path& profile) {
  const fs::path packed = profile.string() + ".gz";
  Figures figures;
  const int times = fs::file_size(profile) > 400'000'000 ? 2 : 4;
  for (int i = 0; i < times; ++i) {  // in turn, as what else runs on the machine disturbs both
    figures.floor =
        std::min(figures.floor, RunChild({"floor", profile.string()}, ChildOutput::kDropped).seconds);
    Report(fs::exists(packed) ? packed : profile, figures);
  }
  fs::remove(packed);
  return figures;
}

class Matrix {
 public:
  explicit Matrix(const fs::path& folder) : folder_(folder) {
    fmt::print("{:<24}{:>10}{:>9}{:>10}{:>10}{:>8}{:>10}{:>9}\n", "shape", "events", "MB", "floor s",
               "report s", "ratio", "memory MB", "growth");
  }

  // `write` makes a profile of so many kernels or events.
  void Add(std::string_view name, const char* file, int64_t size,
           const std::function<void(const fs::path&, int64_t)>& write) {
    const fs::path path = folder_ / file;
    double before = 0;
    for (const int64_t n : {size / 10, size}) {
      write(path, n);
      const Figures figures = Measure(path);
      fmt::print("{:<24}{:>10}{:>9.1f}{:>10.3f}{:>10.3f}{:>8.2f}{:>10.0f}", name, n,
                 static_cast<double>(fs::file_size(path)) / 1e6, figures.floor, figures.report.seconds,
                 figures.ratio(), figures.report.peak_anonymous_mb);
      if (before > 0) fmt::print("{:>9.1f}", figures.report.seconds / before);
      fmt::print("\n");
      std::fflush(stdout);
      if (n == size) {
        ratio_.See(figures.ratio(), name);
        memory_.See(figures.report.peak_anonymous_mb, name);
        growth_.See(figures.report.seconds / before, name);
      }
      before = figures.report.seconds;
      fs::remove(path);
    }
  }

  void Finish() const {
    if (ratio_.name.empty()) throw Error("bench", "no shape has such a name");
    fmt::print(
        "worst: {:.2f} times the floor ({}), {:.0f} MB ({}), {:.1f} times the time for 10 times the size "
        "({})\n",
        ratio_.value, ratio_.name, memory_.value, memory_.name, growth_.value, growth_.name);
  }

 private:
  const fs::path& folder_;
  Worst ratio_, memory_, growth_;
};

}  // namespace

void MeasureShapes(const fs::path& folder, int64_t kernels, int64_t events, std::string_view only) {
  Matrix matrix(folder);
  const auto wanted = [&](std::string_view name) { return name.find(only) != name.npos; };
  for (const ExportShape& shape : ExportShapes())
    if (wanted(shape.name))
      matrix.Add(shape.name, "run.sqlite", kernels,
                 [&](const fs::path& path, int64_t n) { WriteExport(path, n, shape); });
  for (const TraceShape& shape : TraceShapes())
    if (wanted(shape.name))
      matrix.Add(shape.name, "trace.json", events,
                 [&](const fs::path& path, int64_t n) { WriteChromeTrace(path, n, shape); });
  matrix.Finish();
}

void WriteShape(std::string_view name, int64_t size, const fs::path& path) {
  for (const ExportShape& shape : ExportShapes())
    if (shape.name == name) return WriteExport(path, size, shape);
  for (const TraceShape& shape : TraceShapes())
    if (shape.name == name) return WriteChromeTrace(path, size, shape);
  throw Error("bench", fmt::format("no shape is called '{}'", name));
}

void RunFloor(const fs::path& path) {
  const FloorResult found = path.extension() == ".json" ? TraceFloor(path) : ExportFloor(path);
  fmt::print("{} kernels, {} with a call, {} in a range, {} in a step, {} ns idle\n", found.kernels,
             found.launched, found.in_range, found.in_step, found.idle_ns);
  if (found.kernels == 0 || found.in_step == 0)
    throw Error(path.string(), "the floor found no kernel in a step");
}

}  // namespace dladvisor
