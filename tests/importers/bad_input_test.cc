// SPDX-License-Identifier: Apache-2.0
// Everything that is not a readable profile: one Error each, naming the file, what is wrong and what to do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

namespace fs = std::filesystem;
using test::MakeDatabase;
using test::ScratchDir;
using test::WriteFile;
using testing::HasSubstr;
using testing::Not;

constexpr char kSmallExport[] =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'k');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
    " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1, 16777216, 1, 1)";

// The Error that reading `path` ends in; fails where it ends in none.
Error Refusal(const fs::path& path) {
  try {
    ReadProfile(path);
  } catch (const Error& e) {
    EXPECT_EQ(e.where(), path.string());
    return e;
  }
  ADD_FAILURE() << path << " was read";
  return Error("", "");
}

TEST(BadInput, Missing) {
  ScratchDir dir;
  const Error e = Refusal(dir.path() / "nothing.sqlite");
  EXPECT_EQ(e.reason(), "no such file");
  EXPECT_THAT(e.hint(), HasSubstr("path"));
}

TEST(BadInput, Folder) {
  ScratchDir dir;
  const Error e = Refusal(dir.path());
  EXPECT_EQ(e.reason(), "is a folder, not a profile");
  EXPECT_THAT(e.hint(), HasSubstr("name one of the profile files"));
}

TEST(BadInput, Pipe) {
  ScratchDir dir;
  ASSERT_EQ(mkfifo((dir.path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(Refusal(dir.path() / "pipe").reason(), "the file is empty");  // and is not waited for
}

TEST(BadInput, NotPermitted) {
  ScratchDir dir;
  const fs::path file = MakeDatabase(dir.path() / "a.sqlite", kSmallExport);
  fs::permissions(dir.path(), fs::perms::all);
  fs::permissions(file, fs::perms::none);
  // Root may read everything: be somebody else meanwhile.
  const bool root = geteuid() == 0;
  if (root && seteuid(65534) != 0) GTEST_SKIP() << "cannot give up root";
  const Error e = Refusal(file);
  const bool restored = !root || seteuid(0) == 0;
  ASSERT_TRUE(restored);
  EXPECT_EQ(e.reason(), "cannot be read: Permission denied");
  EXPECT_THAT(e.hint(), HasSubstr("chmod u+r"));
}

TEST(BadInput, Empty) {
  ScratchDir dir;
  WriteFile(dir.path() / "a.sqlite", "");
  EXPECT_EQ(Refusal(dir.path() / "a.sqlite").reason(), "the file is empty");
}

TEST(BadInput, ZerosAlone) {
  ScratchDir dir;
  WriteFile(dir.path() / "run.log", std::string(200'000, '\0'));
  EXPECT_EQ(Refusal(dir.path() / "run.log").reason(), "the file holds zeros alone");
}

TEST(BadInput, Noise) {
  ScratchDir dir;
  std::mt19937 random(1);
  std::string noise(1024, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  WriteFile(dir.path() / "a.sqlite", noise);
  const Error e = Refusal(dir.path() / "a.sqlite");
  EXPECT_THAT(e.reason(), HasSubstr("not a profile: unknown binary content"));
  EXPECT_THAT(e.hint(), HasSubstr("nsys export --type sqlite"));
}

TEST(BadInput, TextNamedSqlite) {
  ScratchDir dir;
  WriteFile(dir.path() / "a.sqlite", "Time (%)  Total Time (ns)\n88.3  2991054425\n");
  EXPECT_THAT(Refusal(dir.path() / "a.sqlite").reason(), HasSubstr("not a profile: a text file"));
}

TEST(BadInput, WhatOtherToolsWrote) {
  ScratchDir dir;
  const fs::path file = dir.path() / "profile";
  const auto refusal = [&](const std::string& text) {
    WriteFile(file, text);
    return Refusal(file);
  };
  using std::string_literals::operator""s;
  EXPECT_THAT(refusal("\x0a\xa6\xa1\x87\x01\x12\x09/host:CPU\x1aW"s).reason(), HasSubstr("a profile of XLA"));
  EXPECT_THAT(refusal("\x0a\x12\x08\x01\x12\x0d/device:GPU:0"s).hint(), HasSubstr("nsys profile"));
  EXPECT_THAT(refusal("\x80\x04\x95\x01\x00\x01\x00\x00"s).hint(), HasSubstr("profile_memory=True"));
  EXPECT_THAT(refusal("\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\"\n").reason(),
              HasSubstr("rocprofv3"));
  EXPECT_THAT(refusal("\"Correlation_Id\",\"Counter_Name\"\n").hint(), HasSubstr("--kernel-trace"));
  EXPECT_THAT(
      refusal(R"({"schema": "1.0.1", "nodes": [{"name": "[pytorch|profiler|execution_trace|thread]"}]})")
          .reason(),
      HasSubstr("an execution trace"));
  EXPECT_THAT(refusal("NVR\0\x01\x00"s).reason(), HasSubstr("Nsight Compute"));
  EXPECT_THAT(refusal("<?xml version=\"1.0\"?>\n<session version=\"2\" name=\"a.nvvp\">\n").reason(),
              HasSubstr("of NVIDIA's Visual Profiler"));
  EXPECT_THAT(refusal("PAR1\x15\x04").hint(), HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(refusal("\n/host: is no profile\n").reason(), HasSubstr("not a profile: a text file"));
  EXPECT_THAT(
      refusal(R"({"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[]})").hint(),
      HasSubstr("nsys profile"));
  const fs::path database = dir.path() / "results.db";
  test::Sqlite(database).Run("CREATE TABLE KERN (\"Index\" INTEGER, KernelName TEXT)");
  EXPECT_THAT(Refusal(database).reason(), HasSubstr("a database of rocprof without times"));
  EXPECT_THAT(Refusal(database).hint(), HasSubstr("rocprof --timestamp on"));
  // Its kernels ran one by one.
  const fs::path nvprof = dir.path() / "prof.nvvp";
  test::Sqlite(nvprof).Run(
      "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_METRIC (_id_ INTEGER PRIMARY KEY, value BLOB);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_METRIC VALUES (1, x'00')");
  EXPECT_THAT(Refusal(nvprof).reason(), HasSubstr("a database of nvprof with counters or metrics"));
  EXPECT_THAT(Refusal(nvprof).hint(), HasSubstr("nsys profile"));
}

TEST(BadInput, ATraceInWhichTheProfilerRecordedNothing) {
  ScratchDir dir;
  WriteFile(dir.path() / "a.json",
            R"({"schemaVersion": 1, "traceEvents": [{"ph": "M", "name": "process_name", "ts": 1, "pid": 7}, )"
            R"({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler", "ts": 1, "dur": 5, "pid": "Spans"
}]
})");
  const Error e = Refusal(dir.path() / "a.json");
  EXPECT_THAT(e.reason(), HasSubstr("recorded nothing"));
  EXPECT_THAT(e.hint(), HasSubstr("schedule"));
}

// Their advice is for who wrote them: JAX has no torch.profiler, and a TPU no CUDA.
TEST(BadInput, TracesOfOtherProfilers) {
  ScratchDir dir;
  const auto refusal = [&](const std::string& process) {
    WriteFile(dir.path() / "a.json",
              R"({"displayTimeUnit": "ns", "traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, )"
              R"("args": {"name": ")" +
                  process + R"("}}, {"ph": "X", "name": "fusion", "ts": 1, "dur": 5, "pid": 1}]})");
    return Refusal(dir.path() / "a.json");
  };
  for (const char* process : {"/device:GPU:0", "/device:GPU:0 (pid 1)"}) {
    const Error e = refusal(process);
    EXPECT_THAT(e.reason(), HasSubstr("a trace of XLA's profiler in which it recorded nothing")) << process;
    EXPECT_THAT(e.hint(), Not(HasSubstr("torch"))) << process;
  }
  EXPECT_THAT(refusal("/device:TPU:0").hint(), Not(HasSubstr("nsys")));
  EXPECT_THAT(refusal("Ascend Hardware").hint(), HasSubstr("MindStudio"));
}

TEST(BadInput, Traces) {
  ScratchDir dir;
  WriteFile(dir.path() / "a.json",
            R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "blink", "ts": 1}]})");
  const Error e = Refusal(dir.path() / "a.json");
  EXPECT_THAT(e.reason(), HasSubstr("without events of PyTorch's profiler"));
  EXPECT_THAT(e.reason(), HasSubstr("found blink (1)"));
  EXPECT_THAT(e.hint(), HasSubstr("torch.profiler.profile"));
  WriteFile(dir.path() / "b.json", "[]");
  EXPECT_THAT(Refusal(dir.path() / "b.json").reason(), HasSubstr("found no event"));
  WriteFile(dir.path() / "c.json", R"({"a": 1})");
  EXPECT_THAT(Refusal(dir.path() / "c.json").reason(), HasSubstr("JSON without an array \"traceEvents\""));
  EXPECT_THAT(Refusal(dir.path() / "c.json").hint(), HasSubstr("of times that a program measured itself"));
  WriteFile(dir.path() / "f.json", R"([{"model": "resnet50", "latency_ms": 12.4}, {"latency_ms": 9.5}])");
  EXPECT_THAT(Refusal(dir.path() / "f.json").reason(), HasSubstr("JSON without an event of a trace"));
  WriteFile(dir.path() / "d.json", R"({"traceEvents": [{"ph": "X", "ts": 1, "name": }, {"ph": "X"}]})");
  EXPECT_THAT(Refusal(dir.path() / "d.json").reason(), HasSubstr("is damaged"));
  WriteFile(dir.path() / "e.json.gz", "\x1f\x8b\x08 not much");
  EXPECT_THAT(Refusal(dir.path() / "e.json.gz").reason(), HasSubstr("a gzip file, but its gzip data"));
}

TEST(BadInput, Truncated) {
  ScratchDir dir;
  const fs::path file = MakeDatabase(dir.path() / "a.sqlite", kSmallExport);
  const std::string whole = test::ReadFile(file);
  for (const size_t keep : {size_t{20}, size_t{99}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    WriteFile(file, whole.substr(0, keep));
    const Error e = Refusal(file);
    EXPECT_THAT(e.reason(), HasSubstr("the SQLite database is truncated")) << keep;
    EXPECT_THAT(e.hint(), HasSubstr("export it again")) << keep;
    EXPECT_THAT(e.hint(), Not(HasSubstr("nsys"))) << keep;  // it may be a database of DLProf
  }
}

TEST(BadInput, DamagedPages) {
  ScratchDir dir;
  const fs::path file =
      MakeDatabase(dir.path() / "a.sqlite",
                   std::string(kSmallExport) +
                       ";WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
                       " INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100, i * 100 + 50, 0, 7, i, "
                       "16777216, 1, 1 FROM n");
  const std::string whole = test::ReadFile(file);
  const size_t page = 4096;
  ASSERT_GT(whole.size(), 10 * page);
  int refused = 0, named_command = 0;
  for (size_t p = 0; p < whole.size() / page; ++p) {
    std::string damaged = whole;
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(p * page + (p == 0 ? 100 : 0)), 64, '\xA5');
    WriteFile(file, damaged);
    try {
      ReadProfile(file);
    } catch (const Error& e) {
      EXPECT_THAT(e.reason(), HasSubstr("the SQLite database is damaged"));
      named_command += e.hint().find("nsys export --type sqlite") != std::string::npos ? 1 : 0;
      ++refused;
    }
  }
  EXPECT_EQ(refused, static_cast<int>(whole.size() / page));
  EXPECT_GT(named_command, refused / 2);  // where the tables of the export could be listed
}

TEST(BadInput, EveryDamagedByteIsAnswered) {
  ScratchDir dir;
  const fs::path file = MakeDatabase(dir.path() / "a.sqlite", kSmallExport);
  const std::string whole = test::ReadFile(file);
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole;
    for (int j = 0; j < 8; ++j) damaged[random() % damaged.size()] = static_cast<char>(random());
    WriteFile(file, damaged);
    try {
      ReadProfile(file);
    } catch (const Error&) {
      // Refused or read: either is an answer.
    }
  }
}

TEST(BadInput, OtherDatabase) {
  ScratchDir dir;
  const Error e = Refusal(MakeDatabase(dir.path() / "a.sqlite", "CREATE TABLE users (id INTEGER)"));
  EXPECT_THAT(e.reason(), HasSubstr("without Nsight Systems tables"));
  EXPECT_THAT(e.reason(), HasSubstr("looked for StringIds"));
  EXPECT_THAT(e.reason(), HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL"));
  EXPECT_THAT(e.reason(), HasSubstr("found users"));
}

TEST(BadInput, DlprofDatabase) {
  ScratchDir dir;
  const Error e =
      Refusal(MakeDatabase(dir.path() / "a.sqlite", "CREATE TABLE read_only_kernels (id INTEGER)"));
  EXPECT_EQ(e.reason(),
            "a DLProf database without its tables of ops (read_only_ops, read_only_op_instances)");
  EXPECT_THAT(e.hint(), HasSubstr("nsys_profile.sqlite"));
}

TEST(BadInput, WriteAheadLogBeside) {
  ScratchDir dir;
  const fs::path file = MakeDatabase(dir.path() / "a.sqlite", kSmallExport);
  EXPECT_EQ(ReadProfile(file).kernels.size(), 1u);
  WriteFile(file.string() + "-wal", "");  // an empty one holds nothing
  EXPECT_EQ(ReadProfile(file).kernels.size(), 1u);
  WriteFile(file.string() + "-wal", "x");
  const Error e = Refusal(file);
  EXPECT_THAT(e.reason(), HasSubstr("a write-ahead log lies beside it (a.sqlite-wal)"));
  EXPECT_THAT(e.hint(), HasSubstr("PRAGMA wal_checkpoint(TRUNCATE)"));

  // Also where the file is reached through a link.
  fs::create_directory(dir.path() / "links");
  fs::create_symlink(file, dir.path() / "links" / "b.sqlite");
  EXPECT_THAT(Refusal(dir.path() / "links" / "b.sqlite").reason(), HasSubstr("a write-ahead log"));
}

TEST(BadInput, RollbackJournalBeside) {
  ScratchDir dir;
  const fs::path file = MakeDatabase(dir.path() / "a.sqlite", kSmallExport);
  WriteFile(file.string() + "-journal", std::string("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8) + "rest");
  EXPECT_THAT(Refusal(file).reason(), HasSubstr("a rollback journal lies beside it"));
}

TEST(BadInput, ReportWithoutNsys) {
  ScratchDir dir;
  const fs::path file = dir.path() / "it's a run.nsys-rep";
  WriteFile(file, "NSYS\x01 binary");
  const std::string path = std::getenv("PATH");
  setenv("PATH", dir.path().c_str(), 1);
  const Error e = Refusal(file);
  setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(e.reason(), HasSubstr("nsys is not on PATH"));
  EXPECT_THAT(e.hint(), HasSubstr("nsys export --type sqlite --force-overwrite true --output '" +
                                  (dir.path() / "it'\\''s a run.sqlite").string() + "' '" +
                                  (dir.path() / "it'\\''s a run.nsys-rep").string() + "'"));
}

// A stand-in for nsys that exports what lies at $EXPORT, or fails as nsys does.
class FakeNsys {
 public:
  explicit FakeNsys(const fs::path& dir, const std::string& body) : old_(std::getenv("PATH")) {
    WriteFile(dir / "bin" / "nsys", "#!/bin/sh\n" + body);
    fs::permissions(dir / "bin" / "nsys", fs::perms::owner_all);
    fs::create_directory(dir / "tmp");
    setenv("PATH", ((dir / "bin").string() + ":" + old_).c_str(), 1);
    setenv("TMPDIR", (dir / "tmp").c_str(), 1);
  }
  ~FakeNsys() {
    setenv("PATH", old_.c_str(), 1);
    unsetenv("TMPDIR");
  }

 private:
  std::string old_;
};

TEST(Report, IsExportedThroughNsys) {
  ScratchDir dir;
  MakeDatabase(dir.path() / "made.sqlite", kSmallExport);
  const fs::path report = dir.path() / "a run.nsys-rep";
  WriteFile(report, "NSYS\x01 binary");
  const FakeNsys nsys(
      dir.path(),
      "[ \"$1 $2 $3 $4 $5 $6\" = 'export --type sqlite --force-overwrite true --output' ] || exit 9\n"
      "[ \"$8 $9\" = '--include-blobs=true " +
          report.string() +
          "' ] || exit 8\n"
          "cp '" +
          (dir.path() / "made.sqlite").string() + "' \"$7\"\n");
  const Trace trace = ReadProfile(report);
  EXPECT_EQ(trace.kernels.size(), 1u);
  EXPECT_EQ(trace.path, report.string());
  EXPECT_TRUE(fs::is_empty(dir.path() / "tmp"));
}

TEST(Report, IsExportedThroughAnNsysThatDoesNotKnowTheOption) {
  ScratchDir dir;
  MakeDatabase(dir.path() / "made.sqlite", kSmallExport);
  const fs::path report = dir.path() / "a.nsys-rep";
  WriteFile(report, "NSYS\x01 binary");
  const FakeNsys nsys(dir.path(),
                      "case \"$8\" in --*) echo \"unrecognised option '$8'\" >&2; exit 1;; esac\ncp '" +
                          (dir.path() / "made.sqlite").string() + "' \"$7\"\n");
  EXPECT_EQ(ReadProfile(report).kernels.size(), 1u);
}

TEST(Report, ThatNsysRefuses) {
  ScratchDir dir;
  const fs::path report = dir.path() / "a.nsys-rep";
  WriteFile(report, "NSYS\x01 binary");
  const FakeNsys nsys(dir.path(), "echo Importer error: newer version >&2\nexit 3\n");
  EXPECT_THAT(Refusal(report).reason(), HasSubstr("(status 3): Importer error: newer version"));
  EXPECT_TRUE(fs::is_empty(dir.path() / "tmp"));
}

TEST(Report, WithoutATemporaryFolder) {
  ScratchDir dir;
  const fs::path report = dir.path() / "a.nsys-rep";
  WriteFile(report, "NSYS\x01 binary");
  const FakeNsys nsys(dir.path(), "exit 0\n");
  setenv("TMPDIR", "/no/such/folder", 1);
  try {
    ReadProfile(report);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_THAT(e.reason(), HasSubstr("cannot make a temporary folder"));
    EXPECT_THAT(e.hint(), HasSubstr("TMPDIR"));
  }
}

TEST(Report, WhoseExportIsNoExport) {
  ScratchDir dir;
  const fs::path report = dir.path() / "a.nsys-rep";
  WriteFile(report, "NSYS\x01 binary");
  const FakeNsys nsys(dir.path(), "echo noise > \"$7\"\n");
  EXPECT_THAT(Refusal(report).reason(), HasSubstr("its export cannot be read: not a SQLite database"));
}

}  // namespace
}  // namespace dladvisor
