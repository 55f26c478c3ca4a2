// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/find_files.h"

#include <glob.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "src/importers/rocprof_csv/rocprof_csv.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kDigest = ".digest";

// Others are never opened: a run's folder also holds checkpoints, code and datasets.
bool MayBeProfile(const fs::path& path) { return path.extension() == kDigest || MayBeReadable(path); }

void AddFolder(const fs::path& folder, std::vector<FoundFile>& found) {
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  if (error)
    throw Error(folder.string(), "cannot be read (" + error.message() + ")", "Check its permissions.");
  const size_t before = found.size();
  for (; entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (error) break;
    if (entry->path().filename().string().starts_with('.')) {
      if (entry->is_directory(error)) entry.disable_recursion_pending();
      continue;
    }
    if (entry->is_regular_file(error) && MayBeProfile(entry->path())) found.push_back({entry->path(), false});
  }
  if (found.size() == before)
    throw Error(folder.string(), "a folder without profiles",
                "Profiles end in " + ReadableExtensions() + " or " + std::string(kDigest) +
                    "; name files of other names one by one.");
}

void AddPattern(const std::string& pattern, std::vector<FoundFile>& found) {
  glob_t matches{};
  if (glob(pattern.c_str(), 0, nullptr, &matches) != 0) {
    globfree(&matches);
    throw Error(pattern, "matches no file",
                "Check the pattern; quote it only where the shell must not expand it.");
  }
  for (size_t i = 0; i < matches.gl_pathc; ++i) {
    const fs::path path = matches.gl_pathv[i];
    if (fs::is_directory(path))
      AddFolder(path, found);
    else
      found.push_back({path, true});
  }
  globfree(&matches);
}

void DropPerfettosCopies(std::vector<FoundFile>& files) {
  const auto name = [](const FoundFile& file) { return file.path.filename().string(); };
  std::set<fs::path> with_trace;
  for (const FoundFile& file : files)
    if (name(file).ends_with(".trace.json.gz")) with_trace.insert(file.path.parent_path());
  std::erase_if(files, [&](const FoundFile& file) {
    return !file.named && name(file) == "perfetto_trace.json.gz" &&
           with_trace.contains(file.path.parent_path());
  });
}

// Of tables of one run the first is read with the others.
void DropPartsOfRuns(std::vector<FoundFile>& files) {
  using Place = std::pair<int, fs::path>;
  std::map<std::string, Place> first;
  for (const FoundFile& file : files)
    if (const auto part = PartOfRunOf(file.path)) {
      const auto [known, is_new] = first.try_emplace(part->run, part->place, file.path);
      if (!is_new) known->second = std::min(known->second, Place(part->place, file.path));
    }
  std::erase_if(files, [&](const FoundFile& file) {
    const auto part = PartOfRunOf(file.path);
    if (!part) return false;
    const Place& of_run = first.at(part->run);
    return of_run.first <= PartOfRun::kLastTrace && of_run.second != file.path;
  });
}

}  // namespace

bool NaturallyLess(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      size_t end_a = i, end_b = j;
      while (i < a.size() && a[i] == '0') ++i;
      while (j < b.size() && b[j] == '0') ++j;
      for (end_a = i; end_a < a.size() && digit(a[end_a]); ++end_a) {
      }
      for (end_b = j; end_b < b.size() && digit(b[end_b]); ++end_b) {
      }
      if (end_a - i != end_b - j) return end_a - i < end_b - j;
      const int order = a.substr(i, end_a - i).compare(b.substr(j, end_b - j));
      if (order != 0) return order < 0;
      i = end_a;
      j = end_b;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // 01 and 1
}

std::vector<FoundFile> FindFiles(const std::vector<std::string>& arguments) {
  std::vector<FoundFile> found;
  for (const std::string& argument : arguments) {
    if (argument.empty())
      throw Error("PROFILE", "an argument is empty",
                  "Name a file; an unset variable of the shell leaves nothing between the quotes.");
    std::error_code error;
    if (argument != "-" && fs::is_directory(argument, error))
      AddFolder(argument, found);
    else if (argument.find_first_of("*?[") != std::string::npos && !fs::exists(argument, error))
      AddPattern(argument, found);
    else
      found.push_back({argument == "-" ? fs::path(argument) : fs::path(argument).lexically_normal(), true});
  }
  std::stable_sort(found.begin(), found.end(), [](const FoundFile& a, const FoundFile& b) {
    return NaturallyLess(a.path.string(), b.path.string());
  });
  std::vector<FoundFile> once;
  std::set<std::string> seen;
  for (FoundFile& file : found) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(file.path, error);
    if (seen.insert(error ? file.path.string() : canonical.string()).second) once.push_back(std::move(file));
  }
  DropPerfettosCopies(once);
  DropPartsOfRuns(once);
  return once;
}

}  // namespace dladvisor
