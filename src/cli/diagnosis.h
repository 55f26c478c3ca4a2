// SPDX-License-Identifier: Apache-2.0
// Profiles read, judged by the rules and put into a report's model: what several commands begin with.
#pragma once

#include <memory>
#include <string>

#include "engine/model/advice.h"
#include "engine/store/database.h"
#include "src/cli/session.h"
#include "src/report/model/report_model.h"

namespace dladvisor {

struct Diagnosis {
  Profile profile;
  Database database;  // over the profile
  Advice advice;
  ReportModel model;  // of the advice
};

// What a rule needs to be explained is kept of `explained`, where it is not "". Null on processes of an MPI
// job that have nothing more to do. The model holds what this format shows, which JSON shows most of. Throws
// Error.
std::unique_ptr<Diagnosis> Diagnose(const ProfileOptions& options, const Project& project,
                                    const KnowledgeBase& knowledge, Stages& stages,
                                    const std::string& explained = "",
                                    ReportFormat format = ReportFormat::kJson);

}  // namespace dladvisor
