// Reads what a program printed: the log of a training (Megatron-LM and what is built on it, DeepSpeed,
// Hugging Face's Trainer), and tables of nvidia-smi in it or alone.
#pragma once

#include <optional>

#include "src/importers/bytes/byte_source.h"
#include "src/trace/trace.h"

namespace dladvisor {

// Nothing where the text holds neither. Throws Error for a document that quotes lines of logs.
std::optional<Trace> ReadTrainingLog(ByteSource& source);

}  // namespace dladvisor
