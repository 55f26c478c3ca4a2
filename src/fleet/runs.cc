// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/runs.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "engine/base/error.h"
#include "src/analysis/summary/profile.h"
#include "src/fleet/find_files.h"
#include "src/trace/parallel.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

// The rank that a single profile records.
std::optional<int64_t> RecordedRank(const Digest& digest) {
  const std::vector<ProfileRow> profiles = RowsOf(digest, ProfileRelation());
  return profiles.size() == 1 ? profiles[0].recorded_rank : std::nullopt;
}

// Whether the files that were put together are ranks, and not repeats of them; with `recorded`, by what they
// hold. A copy or two among many ranks is left out, and said to be.
bool AreRanksOfOneRun(const Digest& digest, bool recorded) {
  size_t ranks = 0, copies = 0;
  for (const ProfileRow& profile : RowsOf(digest, ProfileRelation())) {
    if (recorded && !profile.recorded_rank) return false;
    ++(profile.duplicate_of ? copies : ranks);
  }
  return copies < ranks && (copies == 0 || ranks > 2);
}

// The steps of digests are already chosen.
AnalysisOptions OptionsFor(bool are_digests, const AnalysisOptions& options) {
  return are_digests ? AnalysisOptions() : options;
}

Profile LoadRun(const fs::path& path, const AnalysisOptions& options, const std::set<std::string>& left_out) {
  std::optional<Profile> digest = LoadIfDigest(path, left_out);
  return digest ? std::move(*digest) : LoadProfile(path, options);
}

// Whether of so many files, `copies` of which hold a rank that another holds, none can make them the ranks of
// one run, whatever the rest holds.
bool AreRepeats(size_t files, size_t copies) {
  const size_t ranks = files - copies;
  return copies > 0 && (copies >= ranks || ranks <= 2);
}

class Loader {
 public:
  Loader(const AnalysisOptions& options, const std::function<void(const std::string&, Profile)>& take,
         const std::function<void(size_t, size_t)>& progress, const std::set<std::string>& left_out)
      : options_(options), take_(take), progress_(progress), left_out_(left_out) {}

  void LoadFiles(const std::vector<std::string>& files) {
    std::vector<FoundFile> found;
    for (const std::string& file : files) found.push_back({file, /*named=*/true});
    HoldDigests(found);
    if (files.size() > 1 && std::ranges::find(files, "-") == files.end() &&
        MayBeTogether(found, /*recorded=*/true) &&
        LoadTogether(files[0], FindFiles(files), IsADigest(files[0]), /*recorded=*/true))
      return;
    for (const FoundFile& file : found) LoadAlone(file);
  }

  // What lies in a folder, or fits a pattern: one run, or those of each of its folders.
  void LoadGroup(const std::string& argument) {
    const std::vector<FoundFile> found = FindFiles({argument});
    HoldDigests(found);
    if (LoadAsRanks(argument, found)) return;
    std::map<std::string, std::vector<FoundFile>> folders;
    for (const FoundFile& file : found) folders[file.path.parent_path().string()].push_back(file);
    for (const auto& [folder, files] : folders) {
      if (folders.size() > 1 && LoadAsRanks(folder, files)) continue;
      for (const FoundFile& file : files) LoadAlone({file.path, file.named || files.size() == 1});
    }
  }

  std::vector<std::string> Finish() {
    if (taken_ > 0) return std::move(unreadable_);
    if (unreadable_.size() == 1 && only_) std::rethrow_exception(only_);
    throw Error("the profiles",
                "none can be used" + (unreadable_.empty() ? "" : "; the first: " + unreadable_[0]));
  }

 private:
  // Reads the file, once, and keeps it until it is taken.
  const Profile& Hold(const fs::path& path) {
    const fs::path key = path.lexically_normal();  // as FindFiles gives them
    const auto held = held_.find(key);
    if (held != held_.end()) return held->second;
    return held_.emplace(key, LoadRun(path, options_, left_out_)).first->second;
  }

  bool IsADigest(const fs::path& path) const {
    const auto held = held_.find(path.lexically_normal());
    return held != held_.end() ? !held->second.trace : IsDigest(path);
  }

  bool AreDigests(const std::vector<FoundFile>& files) const {
    return std::ranges::all_of(files, [this](const FoundFile& file) { return IsADigest(file.path); });
  }

  // Reads the digests among a few files side by side. What is wrong with one is said when it is taken.
  void HoldDigests(const std::vector<FoundFile>& files) {
    constexpr size_t kMost = 16;
    if (files.size() < 2 || files.size() > kMost) return;
    std::vector<std::optional<Profile>> read(files.size());
    ParallelFor(files.size(), [&](size_t i) {
      try {
        read[i] = LoadIfDigest(files[i].path, left_out_);
      } catch (const Error&) {
      }
    });
    for (size_t i = 0; i < files.size(); ++i)
      if (read[i]) held_.try_emplace(files[i].path.lexically_normal(), std::move(*read[i]));
  }

  // The rank that the file records; nothing, too, where it cannot be read, which LoadAlone reports.
  std::optional<int64_t> HeldRank(const fs::path& path) {
    try {
      return RecordedRank(Hold(path).digest);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  bool HoldsRuns(const std::vector<FoundFile>& files) {
    return std::ranges::any_of(files, [this](const FoundFile& file) {
      return IsADigest(file.path) && RowsOf(Hold(file.path).digest, ProfileRelation()).size() > 1;
    });
  }

  // Reads files as long as they record the rank that the first one records, until it is certain that they are
  // repeats. With `recorded` ranks are only what files record.
  bool MayBeTogether(const std::vector<FoundFile>& files, bool recorded) {
    const std::optional<int64_t> first = HeldRank(files[0].path);
    if (!first) return !recorded;
    for (size_t copies = 1; copies < files.size(); ++copies) {
      if (HeldRank(files[copies].path) != first) return true;
      if (AreRepeats(files.size(), copies)) return false;
    }
    return false;
  }

  // What was found below a folder, or fits a pattern, as the ranks of one run; false where it is not.
  bool LoadAsRanks(const std::string& name, const std::vector<FoundFile>& files) {
    const bool are_digests = AreDigests(files);
    return files.size() > 1 && !HoldsRuns(files) && MayBeTogether(files, are_digests) &&
           LoadTogether(name, files, are_digests, /*recorded=*/are_digests);
  }

  // As the ranks of one run; false where they are not.
  bool LoadTogether(const std::string& name, const std::vector<FoundFile>& files, bool are_digests,
                    bool recorded) {
    DigestsByPath known;
    for (const FoundFile& file : files)
      if (auto held = held_.extract(file.path)) known.emplace(file.path, std::move(held.mapped().digest));
    Alone alone;
    Profile profile =
        LoadFoundFiles(files, OptionsFor(are_digests, options_), alone, progress_, std::move(known));
    if (!AreRanksOfOneRun(profile.digest, recorded)) return false;
    unreadable_.insert(unreadable_.end(), profile.unreadable.begin(), profile.unreadable.end());
    Take(name, std::move(profile));
    return true;
  }

  void LoadAlone(const FoundFile& file) {
    try {
      Hold(file.path);
      Take(file.path.string(), std::move(held_.extract(file.path.lexically_normal()).mapped()));
    } catch (const WrongKind& error) {
      if (!file.named) return;
      only_ = std::current_exception();
      unreadable_.push_back(error.what());
    } catch (const Error& error) {
      only_ = std::current_exception();
      unreadable_.push_back(error.what());
    }
  }

  void Take(const std::string& name, Profile profile) {
    ++taken_;
    take_(name, std::move(profile));
  }

  const AnalysisOptions& options_;
  const std::function<void(const std::string&, Profile)>& take_;
  const std::function<void(size_t, size_t)>& progress_;
  const std::set<std::string>& left_out_;
  std::map<fs::path, Profile> held_;
  size_t taken_ = 0;
  std::vector<std::string> unreadable_;
  std::exception_ptr only_;  // why a file cannot be read, where it is the only one
};

// Each file and folder once, however often and by whatever path it is named.
std::vector<std::string> EachOnce(const std::vector<std::string>& arguments) {
  std::vector<std::string> once;
  std::set<fs::path> seen;
  for (const std::string& argument : arguments) {
    std::error_code error;
    const fs::path canonical = argument == "-" ? fs::path() : fs::weakly_canonical(argument, error);
    if (seen.insert(error ? fs::path(argument) : canonical).second) once.push_back(argument);
  }
  return once;
}

}  // namespace

std::vector<std::string> LoadRuns(const std::vector<std::string>& given, const AnalysisOptions& options,
                                  const std::function<void(const std::string&, Profile)>& take,
                                  const std::function<void(size_t, size_t)>& progress,
                                  const std::set<std::string>& left_out) {
  const std::vector<std::string> arguments = EachOnce(given);
  if (arguments.size() == 1 && (arguments[0] == "-" || fs::is_regular_file(arguments[0]))) {
    take(arguments[0], LoadRun(arguments[0], options, left_out));  // says by itself what is wrong with it
    return {};
  }
  Loader loader(options, take, progress, left_out);
  std::vector<std::string> files;
  for (const std::string& argument : arguments)
    if (argument == "-" || fs::is_regular_file(argument)) files.push_back(argument);
  loader.LoadFiles(files);
  for (const std::string& argument : arguments)
    if (argument != "-" && !fs::is_regular_file(argument)) loader.LoadGroup(argument);
  return loader.Finish();
}

}  // namespace dladvisor
