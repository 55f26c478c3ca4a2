// SPDX-License-Identifier: Apache-2.0
// What the texts of ranges contain.
#include "src/analysis/context/markers.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace dladvisor {
namespace {

TEST(Markers, DlprofTraceMarker) {
  const Marker marker = ParseMarker(
      R"({'traceMarker': ['net.py:42', "it's[0].py:7"], 'funcStack': '/<module>/Net::__init__(2)/<lambda>/cuda'})");
  EXPECT_EQ(marker.kind, Marker::Kind::kTrace);
  EXPECT_EQ(marker.name, "/module/Net::__init__[2]/lambda/cuda");  // as DLProf's reports print it
  EXPECT_EQ(marker.stack, "net.py:42\nit's[0].py:7");
}

TEST(Markers, DlprofOpMarker) {
  const Marker marker = ParseMarker(
      "{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'type': 'tensor', 'shape': (32, "
      "3, 32, "
      "32), 'dtype': 'float16'}, {'name': '', 'type': 'tensor', 'shape': (6,), 'dtype': 'float32'}]}");
  EXPECT_EQ(marker.kind, Marker::Kind::kOp);
  EXPECT_EQ(marker.name, "conv2d");
  EXPECT_EQ(marker.dtype, "float16");
  EXPECT_EQ(marker.shapes, "(32, 3, 32, 32); (6,)");
}

TEST(Markers, AnOpWithoutTensors) {
  const Marker marker = ParseMarker("{'mod': 'torch', 'op': 'randn', 'args': []}");
  EXPECT_EQ(marker.kind, Marker::Kind::kOp);
  EXPECT_EQ(marker.name, "randn");
  EXPECT_EQ(marker.dtype, "");
  EXPECT_EQ(marker.shapes, "");
}

TEST(Markers, WhatOnlyLooksLikeAMarkerIsPlain) {
  for (const std::string text :
       {R"({"model_config": {"emit_nvtx": true}})", "{ForeignNode[out_masks.../ScatterND_21]}", "{", "{'op'",
        "{'op':", "{'op': 3}", "{'funcStack': ", "{'funcStack': ''}", "", "{'op': ''}"}) {
    const Marker marker = ParseMarker(text);
    EXPECT_EQ(marker.kind, Marker::Kind::kPlain) << text;
    EXPECT_EQ(marker.name, text);
  }
}

TEST(Markers, TruncatedMarkersAreHarmless) {
  const std::string whole =
      "{'traceMarker': ['a.py:1', 'b.py:2'], 'funcStack': '/<module>/f', 'mod': 'm', 'op': 'o', 'args': "
      "[{'name': '', "
      "'type': 'tensor', 'shape': (1, 2), 'dtype': 'float32'}]}";
  for (size_t length = 0; length <= whole.size(); ++length) ParseMarker(whole.substr(0, length));
  std::string escaped = "{'op': 'a";
  escaped += '\\';
  EXPECT_EQ(ParseMarker(escaped).name, "a\\");
}

TEST(Markers, NormalizedNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"aten::to, op_id = 317177", "aten::to"},
      {"aten::linear, seq = 12", "aten::linear"},
      {"aten::conv2d, seq = 3, op_id = 7, sizes = [[32, 3, 32, 32], [6]], input_op_ids = [(1, 0)]",
       "aten::conv2d"},
      {"AddmmBackward0, seq = 12", "AddmmBackward0"},
      {"iteration 7", "iteration #"},
      {"Iteration: 12 of 500", "Iteration: # of 500"},
      {"ProfilerStep#7", "ProfilerStep#"},
      {"step_0003/forward", "step_#/forward"},
      {"epoch 2", "epoch #"},
      {"epoch1_step2003", "epoch#_step#"},
      {"epoch1_step2003-rank7-640_8", "epoch#_step#-rank#-640_8"},
      {"crank3", "crank3"},
      {"micro-batch 3", "micro-batch #"},
      {"batch_12", "batch_#"},
      {"request #44", "request #"},
      {"<function f at 0x7f3a12bc4d30>", "<function f at 0x#>"},
      {"footstep 7", "footstep 7"},
      {"layer 3", "layer 3"},
      {"conv2d_1", "conv2d_1"},
      {"0x12", "0x12"},
      {"", ""},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(NormalizedRangeName(text), expected) << text;
}

TEST(Markers, OpTypes) {
  const std::pair<const char*, const char*> cases[] = {
      {"aten::linear", "linear"},
      {"torch::autograd::AccumulateGrad", "AccumulateGrad"},
      {"relu", "relu"},
      {"ns::", "ns::"},
      {"std::vector<a::b>", "std::vector<a::b>"},
      {"/layer1/layer1.0/conv1/Conv + /layer1/layer1.0/relu/Relu", "Conv"},
      {"resnet50/conv1/Conv2D", "Conv2D"},
      {"all_gather (1/4)", "all_gather (1/4)"},
      {"{ForeignNode[/Add.../ScatterND_23]}", "{ForeignNode[/Add.../ScatterND_23]}"},
      {"", ""},
      {"/", "/"},
  };
  for (const auto& [name, expected] : cases) EXPECT_EQ(OpTypeOfName(name), expected) << name;
}

}  // namespace
}  // namespace dladvisor
