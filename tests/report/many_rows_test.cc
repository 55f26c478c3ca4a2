// What is cut short: tables at kMaxReportRows, details at the ranks that are kept of many. Figures, charts
// and sentences count all of it, or say that they do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "src/report/layout.h"
#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using I = int64_t;

std::string Render(FakeRun run, ReportFormat format) {
  const Database db = run.Build();
  static const Advice advice;
  return RenderReport(BuildReport(db, advice, {"job", "", "dladvisor", false}), format);
}
std::string Html(const FakeRun& run) { return Render(run, ReportFormat::kHtml); }

// From the first `begin` on to the first `end` after it.
std::string Part(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t at = text.find(begin);
  return at == std::string::npos ? "" : text.substr(at, text.find(end, at) - at);
}

// A job of many ranks, of which details were kept of the first ones alone.
FakeRun Job(I ranks, I detailed) {
  FakeRun run;
  run.Give("run", {{{"name", "job"}, {"ranks", ranks}, {"gpus", ranks}, {"kernel_ns", ranks * 200'000'000}}});
  for (I rank = 0; rank < ranks; ++rank) {
    run.Give("profile", {{{"profile", rank}, {"path", "rank"}, {"format", "nsys"}, {"kernels", I{9}}}});
    run.Give("gpu", {{{"rank", rank},
                      {"device", I{0}},
                      {"kernels", I{9}},
                      {"kernel_ns", I{200'000'000}},
                      {"tensor_core_ns", I{120'000'000}},
                      {"tensor_core_unknown_ns", I{30'000'000}},
                      {"eligible_ns", I{150'000'000}},
                      {"eligible_unknown_ns", I{10'000'000}}}});
  }
  for (I rank = 0; rank < detailed; ++rank) {
    run.Give("op", {{{"rank", rank}, {"op", "/linear"}, {"op_type", "linear"}, {"gpu_ns", I{200'000'000}}}});
    run.Give("op_kernel",
             {{{"rank", rank}, {"op", "/linear"}, {"kernel", "gemm"}, {"gpu_ns", I{200'000'000}}}});
    run.Give("kernel_name",
             {{{"rank", rank}, {"device", I{0}}, {"kernel", "gemm"}, {"total_ns", I{200'000'000}}}});
    run.Give("diagnostic", {{{"profile", rank}, {"n", I{0}}, {"severity", I{1}}, {"text", "lost"}}});
  }
  return run;
}

TEST(ManyRanks, KernelTimeIsOfAll) {
  FakeRun run = Job(256, 17);
  const Database db = run.Build();
  const Advice advice;
  const ReportModel model = BuildReport(db, advice, {});
  EXPECT_EQ(FigureNumber(model, "total_kernel_time"), 51.2e9);
  const std::string card =
      Part(RenderReport(model, ReportFormat::kHtml), "id=\"card-kernel_gpu_time\"", "</section>");
  EXPECT_THAT(card, HasSubstr("51.2 s"));
  EXPECT_THAT(card, AllOf(HasSubstr("30.7 s"), HasSubstr("60.0 %"))) << "using tensor cores";
  EXPECT_THAT(card, AllOf(HasSubstr("5.12 s"), HasSubstr("10.0 %"))) << "eligible, not using";
  EXPECT_THAT(card, AllOf(HasSubstr("7.68 s"), HasSubstr("15.0 %"))) << "not known, and not eligible";
  EXPECT_THAT(card, Not(HasSubstr("Of rank")));
}

}  // namespace
}  // namespace dladvisor::test
