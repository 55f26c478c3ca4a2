// SPDX-License-Identifier: Apache-2.0
// Run by the build: checks the table of GPU models and writes it as C++ (src/hardware/table).
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "engine/base/output_file.h"
#include "engine/rules/yaml_reader.h"
#include "src/hardware/hardware.h"
#include "src/hardware/hardware_reader.h"

namespace dladvisor {
namespace {

std::string Quoted(const std::string& text) { return fmt::format("R\"~({})~\"", text); }
std::string Maybe(const std::optional<double>& number) {
  return number ? fmt::format("{:.17g}", *number) : "std::nullopt";
}
std::string Listed(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += Quoted(text) + ", ";
  return "{" + list + "}";
}
std::string Listed(const Rates& rates) {
  std::string list;
  for (const Rate& rate : rates)
    list += fmt::format("{{static_cast<Precision>({}), static_cast<ComputeUnit>({}), {:.17g}}}, ",
                        static_cast<int>(rate.precision), static_cast<int>(rate.unit), rate.value);
  return "{" + list + "}";
}

std::string SourceOf(const Hardware& hardware) {
  std::string text =
      "// Generated from rules/hardware.yaml.\n#include \"src/hardware/table/built_in_hardware.h\"\n\n"
      "namespace dladvisor {\n\nconst Hardware& BuiltInHardware() {\n"
      "  static const Hardware hardware = {{\n";
  for (const Architecture& a : hardware.architectures)
    text += fmt::format("    {{{}, {}, {}}},\n", Quoted(a.name), Listed(a.rates), Quoted(a.source));
  text += "  }, {\n";
  for (const GpuModel& m : hardware.models)
    text += fmt::format(
        "    {{{}, {}, {}, {},\n     {}, {}, {},\n     {},\n     {},\n     {}, {}, {}, {}, {}, {},\n     {}, "
        "{}}},\n",
        Quoted(m.model), Listed(m.names), Listed(m.shared_names), Quoted(m.architecture),
        m.multiprocessors ? fmt::format("{}", *m.multiprocessors) : "std::nullopt", Maybe(m.boost_clock_hz),
        Maybe(m.matrix_clock_hz), Listed(m.peaks), Listed(m.achievable), Maybe(m.memory_bytes),
        Maybe(m.memory_bytes_per_s), Maybe(m.achievable_memory_bytes_per_s),
        Maybe(m.recorded_memory_bytes_per_s), Maybe(m.link_bytes_per_s), Maybe(m.host_bytes_per_s),
        Quoted(m.source), Quoted(m.achievable_source));
  return text + "  }};\n  return hardware;\n}\n\n}  // namespace dladvisor\n";
}

int Compile(const std::string& table, const std::string& output) {
  std::ifstream in(table, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  Problems problems;
  Hardware hardware;
  if (const auto yaml = YamlFile::Parse(table, content, problems))
    hardware = ReadHardware(*yaml, yaml->root(), {}, problems);
  for (const std::string& problem : problems.Lines()) fmt::print(stderr, "{}\n", problem);
  if (problems.empty()) WriteFileWhole(output, SourceOf(hardware));
  return problems.empty() ? 0 : 1;
}

}  // namespace
}  // namespace dladvisor

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: compile_hardware TABLE SOURCE\n");
    return 1;
  }
  return dladvisor::Compile(argv[1], argv[2]);
}
