// The tables that users of other tools know, as SQL views over events and facts, under those tools' names of
// tables and columns. They are computed when they are queried, from events: a digest has none.
#pragma once

#include <string>
#include <vector>

namespace dladvisor {

struct View {
  std::string name, doc, sql;
};

// `nsys stats` reports (https://docs.nvidia.com/nsight-systems/UserGuide/index.html, section "Report
// Scripts"). Like theirs they sum over processes and devices; rows without a duration are left out.
const std::vector<View>& NsysViews();

// DLProf's reports (https://docs.nvidia.com/deeplearning/frameworks/dlprof-user-guide, section "Reports")
// with its columns and orders. Like it they do not tell ranks apart; iterations are the analysed steps, and
// without steps the profile is iteration 0.
const std::vector<View>& DlprofViews();

}  // namespace dladvisor
