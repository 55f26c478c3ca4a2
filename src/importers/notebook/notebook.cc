// SPDX-License-Identifier: Apache-2.0
#include "src/importers/notebook/notebook.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "src/importers/bytes/byte_source.h"
#include "src/importers/bytes/plain_json.h"
#include "src/importers/bytes/whole_text.h"
#include "src/importers/training_log/training_log_importer.h"

namespace dladvisor {
namespace {
using nlohmann::json;

constexpr std::string_view kSaveOutput =
    "give what the training printed: save the notebook with its outputs, or run it as a script "
    "(jupyter nbconvert --to script FILE, python FILE.py 2>&1 | tee train.log)";

const json* Member(const json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

// A string, or a list of lines.
std::string TextOf(const json* value) {
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  std::string text;
  if (value->is_array())
    for (const json& line : *value)
      if (line.is_string()) text += line.get<std::string>();
  return text;
}

// "[1000/1000 10:23, Epoch 2/2]", which Hugging Face's Trainer shows in place of a progress bar, as one.
std::string BarOf(const std::string& html) {
  static const RE2 form(R"(\[\s*(\d{1,9})/(\d{1,9}) (?:(?:(\d{1,4}):)?(\d{1,2}):(\d\d))\b[^\]]*Epoch)");
  int64_t done = 0, all = 0, hours = 0, minutes = 0, seconds = 0;
  std::string of_hours;
  if (!RE2::PartialMatch(html, form, &done, &all, &of_hours, &minutes, &seconds) || done <= 0 || all < done)
    return {};
  if (!of_hours.empty() && !RE2::FullMatch(of_hours, R"((\d+))", &hours)) return {};
  const int64_t took = (hours * 60 + minutes) * 60 + seconds;
  if (took <= 0) return {};
  return fmt::format("{:3}%|#| {}/{} [{}:{:02}:{:02}<00:00, {:.4f}s/it]\n", 100 * done / all, done, all,
                     hours, minutes, seconds, static_cast<double>(took) / static_cast<double>(done));
}

std::string TextOfOutput(const json& output) {
  const std::string kind = TextOf(Member(output, "output_type"));
  if (kind == "stream") return TextOf(Member(output, "text"));
  if (kind == "error")
    return fmt::format("Traceback (most recent call last):\n{}: {}\n", TextOf(Member(output, "ename")),
                       TextOf(Member(output, "evalue")));
  const json* data = Member(output, "data");
  if (data == nullptr) return {};
  if (std::string bar = BarOf(TextOf(Member(*data, "text/html"))); !bar.empty()) return bar;
  std::string text = TextOf(Member(*data, "text/plain"));
  // "<Figure size 640x480 with 1 Axes>", "HBox(children=(...": what a browser shows otherwise.
  return text.starts_with('<') || text.starts_with("HBox(") ? std::string() : text + "\n";
}

std::string OutputsOf(const json& notebook) {
  std::string text;
  const json* cells = Member(notebook, "cells");
  if (cells == nullptr || !cells->is_array()) return text;
  for (const json& cell : *cells) {
    const json* outputs = Member(cell, "outputs");
    if (outputs == nullptr || !outputs->is_array()) continue;
    for (const json& output : *outputs) text += TextOfOutput(output);
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  return text;
}

// Of Kaggle's log of a run: [{"stream_name": "stdout", "time": 4.2, "data": "Epoch 1\n"}].
std::string StreamsOf(const json& log) {
  std::string text;
  for (const json& part : log) text += TextOf(Member(part, "data"));
  return text;
}

Trace ReadNotebook(ByteSource& source) {
  const json notebook = json::parse(PlainJson(WholeText(source)), nullptr, false);
  if (notebook.is_discarded())
    throw WrongKind(source.name(), "a Jupyter notebook that is cut or not JSON", "save it again");
  std::string text = notebook.is_array() ? StreamsOf(notebook) : OutputsOf(notebook);
  if (text.empty())
    throw WrongKind(source.name(), "a Jupyter notebook without the output of a cell",
                    std::string(kSaveOutput));
  ByteSource outputs(source.name(), std::move(text));
  if (std::optional<Trace> trace = ReadPrinted(outputs)) return std::move(*trace);
  throw WrongKind(source.name(), "a Jupyter notebook in which no cell printed a log that dladvisor knows",
                  std::string(kSaveOutput));
}

}  // namespace

constinit const Importer kNotebookImporter = {
    .in_list = "Jupyter notebooks with what a training printed",
    .extensions = ".ipynb",
    .more_extensions = "",
    .fits =
        [](const Input& input) {
          const std::string_view head = input.head();
          if (head.starts_with("[{") && head.substr(0, 200).find("\"stream_name\"") != std::string_view::npos)
            return Importer::Fit::kYes;
          // Colab writes the format first, and cells behind its metadata.
          const bool of_cells = head.find("\"cells\"") != std::string_view::npos &&
                                head.find("\"cell_type\"") != std::string_view::npos;
          return head.starts_with('{') && (of_cells || head.find("\"nbformat\"") != std::string_view::npos)
                     ? Importer::Fit::kYes
                     : Importer::Fit::kNo;
        },
    .read = [](Input& input) { return std::optional(ReadNotebook(input.bytes())); },
};

}  // namespace dladvisor
