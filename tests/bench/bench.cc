// SPDX-License-Identifier: Apache-2.0
// ./dev bench [KERNELS]: what things cost, as multiples of something measured in the same run.
// Reports of exports and traces of every shape (export.h, chrome_trace.h), of bare programs that read the
// same and do the least: see shape_bench.cc. Loading the built-in rules: of reading an export of 2 MB. Rules:
// see rules_bench.cc. `./dev bench shape NAME [KERNELS]` measures the shapes whose names hold NAME; `./dev
// bench fleet` the report of many ranks: see fleet_bench.cc; `./dev bench gate` how right a gate is: see
// gate_bench.cc.
#include "tests/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "src/cli/cli.h"
#include "src/cli/session.h"
#include "tests/bench/export.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

// A folder for what is written, gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "dladvisor-bench-XXXXXX").string();
    if (!mkdtemp(name.data())) throw Error(name, "cannot be created");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Reading an export as small as users have, against loading the rules that judge it.
void MeasureLoading(const fs::path& folder) {
  constexpr int64_t kKernels = 16'000;
  const fs::path path = folder / "small.sqlite";
  WriteExport(path, kKernels);
  const double read = BestOf(5, [&] { LoadProfile(path, {}); });
  const double rules = BestOf(5, [] { LoadRules({}, {}); });
  fmt::print("{:>11} built-in rules  load {:.2f} ms  reading {:.1f} MB {:.2f} ms  ratio {:.3f}\n",
             LoadRules({}, {}).rules().size(), rules * 1e3, static_cast<double>(fs::file_size(path)) / 1e6,
             read * 1e3, rules / read);
}

int64_t Number(std::string_view text, int64_t otherwise) {
  std::from_chars(text.data(), text.data() + text.size(), otherwise);
  return otherwise;
}

// A trace holds half as many events as an export holds kernels: 10 million kernels, 5 million events.
void RunShapes(int64_t kernels, std::string_view only) {
  const TemporaryFolder folder;
  MeasureShapes(folder.path(), kernels, kernels / 2, only);
}

void Run(int64_t kernels) {
  RunShapes(kernels, "");
  const TemporaryFolder folder;
  MeasureLoading(folder.path());
  MeasureRules();
}

void RunFleet(std::string_view argument) {
  const TemporaryFolder folder;
  MeasureFleet(folder.path(), Number(argument, 192));
}

}  // namespace

double BestOf(int times, const std::function<void()>& work) {
  double best = 1e300;
  for (int i = 0; i < times; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace dladvisor

int main(int argc, char** argv) {
  const std::string_view argument = argc > 1 ? argv[1] : "";
  if (argument == "report") return dladvisor::Main(argc, argv);  // see RunChild
  const auto kernels_of = [](std::string_view text) { return dladvisor::Number(text, 1'000'000); };
  try {
    if (argument == "fleet")
      dladvisor::RunFleet(argc > 2 ? argv[2] : "");
    else if (argument == "gate")
      dladvisor::MeasureGate({argv + 2, argv + argc});
    else if (argument == "write" && argc > 4)
      dladvisor::WriteShape(argv[2], kernels_of(argv[3]), argv[4]);
    else if (argument == "floor" && argc > 2)
      dladvisor::RunFloor(argv[2]);
    else if (argument == "shape")
      dladvisor::RunShapes(kernels_of(argc > 3 ? argv[3] : ""), argc > 2 ? argv[2] : "");
    else
      dladvisor::Run(kernels_of(argument));
  } catch (const dladvisor::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
