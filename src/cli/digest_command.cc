// SPDX-License-Identifier: Apache-2.0
#include "src/cli/digest_command.h"

#include <fmt/format.h>

#include <memory>

#include "src/fleet/digest_writer.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

struct DigestOptions {
  ProfileOptions profile;
  std::string output;
};

void RunDigest(const DigestOptions& options, const CommonOptions& common) {
  const AnalysisOptions analysis = options.profile.ToAnalysisOptions(LoadProject(common.config));
  Stages stages(common);
  stages.Begin("read");
  const Profile profile = LoadProfiles(options.profile, analysis, stages);
  if (profile.is_elsewhere) return;
  RefuseToOverwrite(options.output, profile);
  for (const std::string& message : profile.unreadable)
    fmt::print(stderr, "warning: {}\n", VisibleLines(message));
  stages.Begin("write");
  WriteDigest(profile.digest, options.output);
  SayWritten(options.output, common);
}

}  // namespace

void AddDigestCommand(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<DigestOptions>();
  CLI::App* command =
      app.add_subcommand("digest", "Keep a profile's facts, without its events, in a small file");
  options->profile.AddTo(*command);
  options->profile.AddMpiTo(*command);
  command->add_option("-o,--output", options->output, "Digest to write")->required()->type_name("FILE");
  command->callback([options, &common] { RunDigest(*options, common); });
}

}  // namespace dladvisor
