// SPDX-License-Identifier: Apache-2.0
// Runs of a program: what a gate compares. A run is one profile, or those of all ranks of a job.
//
// Each argument is a run of its own, once however often it is named: repeats are given one by one. Two cases
// are read otherwise:
//  - files named one by one whose contents record different ranks are one run;
//  - a folder or pattern is one run of several ranks, except where its files record the same rank, or are
//    digests that do not record different ones: these are repeats, as `gate --update` writes them. Where
//    they lie in several folders, the files directly in each are taken by themselves. Where only reading all
//    of them shows that ranks and repeats are mixed, each is read again for its events.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/fleet/load_profiles.h"

namespace dladvisor {

// Reads one run after the other and hands it over with its name, the path or argument that it was given by.
// `progress` is as for LoadProfiles. Returns one message for each of several files that cannot be read.
// Digests are read without the relations `left_out`.
// Throws Error where there is no file, or none that can be read: of one file what is wrong with it.
std::vector<std::string> LoadRuns(const std::vector<std::string>& given, const AnalysisOptions& options,
                                  const std::function<void(const std::string&, Profile)>& take,
                                  const std::function<void(size_t, size_t)>& progress = {},
                                  const std::set<std::string>& left_out = {});

}  // namespace dladvisor
