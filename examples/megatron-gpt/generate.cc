// SPDX-License-Identifier: Apache-2.0
// megatron-gpt naive|mixed [-o FILE] [--schema FILE]
#include <CLI/CLI.hpp>
#include <cstdio>

#include "engine/base/error.h"
#include "examples/megatron-gpt/timeline.h"

int main(int argc, char** argv) {
  using namespace dladvisor::example;
  CLI::App app("Writes one of two Megatron GPT training runs as an Nsight Systems export (SQLite).");
  std::string which, output, schema;
  app.add_option("run", which, "naive (FP32) or mixed (mixed precision)")
      ->required()
      ->check(CLI::IsMember({"naive", "mixed"}));
  app.add_option("-o,--output", output, "File to write; default: the run's name in the working folder");
  app.add_option("--schema", schema, "SQL file with the CREATE statements of another release's exports");
  CLI11_PARSE(app, argc, argv);
  try {
    const Run run = which == "naive" ? NaiveRun() : MixedRun();
    if (output.empty()) output = run.name + ".sqlite";
    WriteRun(run, output, schema.empty() ? DefaultNsysSchema() : ReadNsysSchema(schema));
  } catch (const dladvisor::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
