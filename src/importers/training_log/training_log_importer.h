// SPDX-License-Identifier: Apache-2.0
// Reads what a program printed: the log of a training (Megatron-LM and what is built on it, DeepSpeed,
// Hugging Face's Trainer, programs that print a line for each step) or of a server (vLLM, SGLang), and tables
// of nvidia-smi in it or alone.
#pragma once

#include <optional>

#include "src/importers/bytes/byte_source.h"
#include "src/importers/input/importer.h"
#include "src/trace/trace.h"

namespace dladvisor {

// Takes every text that no other importer knows. Refuses documents that quote lines of logs.
extern const Importer kTrainingLogImporter;

// The same of a text; nothing where it holds neither a log nor a table.
std::optional<Trace> ReadPrinted(ByteSource& source);

}  // namespace dladvisor
