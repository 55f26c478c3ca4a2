// The files of templates/, compiled into the program.
#pragma once

#include <span>

#include "engine/base/embedded.h"

namespace dladvisor {

std::span<const EmbeddedFile> EmbeddedTemplates();

}  // namespace dladvisor
