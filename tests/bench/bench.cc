// SPDX-License-Identifier: Apache-2.0
// ./dev bench [KERNELS]: what things cost, as multiples of something measured in the same run.
// Reports of exports and traces of every shape (export.h, chrome_trace.h), of bare programs that read the
// same and do the least: see shape_bench.cc. Loading the built-in rules: of reading an export of 2 MB. Rules:
// see rules_bench.cc. What compute efficiency costs: see efficiency_bench.cc. `./dev bench shape NAME
// [KERNELS]` measures the shapes whose names hold NAME; `./dev bench fleet` the report of many ranks: see
// fleet_bench.cc; `./dev bench gate` how right a gate is: see gate_bench.cc. `./dev bench --help` lists them.
#include "tests/bench/bench.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/freed_memory.h"
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

constexpr std::string_view kUsage =
    R"(usage: bench [KERNELS]               all of the following but fleet and gate; 1000000 kernels
       bench shape NAME [KERNELS]    reports of the shapes whose names hold NAME
       bench rules                   500 rules over many rows, against their conditions alone
       bench efficiency [KERNELS]    what it costs to know how fast operators run
       bench fleet [RANKS]           the report of many ranks; 192
       bench gate [PROFILE...]       how right a gate is
       bench gate-lines TEXT [GATES] the lines of it whose noise and setup hold TEXT; 4000 gates each
       bench hostile                 what hostile rules take
       bench write SHAPE KERNELS FILE
                                     writes a profile of a shape
       bench floor FILE              runs the bare program that reports are compared with
)";

// What the command line asks for is not there.
struct BadUsage {};

int64_t Number(std::string_view text) {
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number <= 0) throw BadUsage();
  return number;
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
  MeasureEfficiency(folder.path(), kernels / 2);
}

void RunEfficiency(int64_t kernels) {
  const TemporaryFolder folder;
  MeasureEfficiency(folder.path(), kernels);
}

void RunFleet(int64_t ranks) {
  const TemporaryFolder folder;
  MeasureFleet(folder.path(), ranks);
}

constexpr int64_t kUsualKernels = 1'000'000, kUsualRanks = 192;

void RunCommand(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  const size_t count = arguments.size();
  const auto number = [&](size_t at, int64_t otherwise) {
    return at < count ? Number(arguments[at]) : otherwise;
  };
  if (command == "gate")
    MeasureGate({arguments.begin() + 1, arguments.end()});
  else if (command == "gate-lines" && (count == 2 || count == 3))
    MeasureGateLines(arguments[1], static_cast<size_t>(number(2, kGatesOfALine)));
  else if (command == "hostile" && count == 1)
    MeasureHostile();
  else if (command == "hostile" && count == 2)
    RunHostile(static_cast<size_t>(std::stoul(arguments[1])));
  else if (command == "fleet" && count <= 2)
    RunFleet(number(1, kUsualRanks));
  else if (command == "rules" && count == 1)
    MeasureRules();
  else if (command == "efficiency" && count <= 2)
    RunEfficiency(number(1, kUsualKernels / 2));
  else if (command == "write" && count == 4)
    WriteShape(arguments[1], number(2, kUsualKernels), arguments[3]);
  else if (command == "floor" && count == 2)
    RunFloor(arguments[1]);
  else if (command == "shape" && (count == 2 || count == 3))
    RunShapes(number(2, kUsualKernels), arguments[1]);
  else if (count <= 1)
    Run(number(0, kUsualKernels));
  else
    throw BadUsage();
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
  dladvisor::ReuseFreedMemory();  // as the program does
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "report") return dladvisor::Main(argc, argv);  // see RunChild
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    fmt::print("{}", dladvisor::kUsage);
    return 0;
  }
  try {
    dladvisor::RunCommand(arguments);
  } catch (const dladvisor::BadUsage&) {
    fmt::print(stderr, "bench: no such command: {}\n{}", fmt::join(arguments, " "), dladvisor::kUsage);
    return 3;
  } catch (const dladvisor::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
