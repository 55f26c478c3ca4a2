// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/json_tokens.h"

#include <simdjson.h>

namespace dladvisor::kineto {

struct JsonTokens::Parser {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> of;
};

JsonTokens::JsonTokens() : parser_(std::make_unique<Parser>()) {}
JsonTokens::~JsonTokens() = default;

JsonCursor JsonTokens::Find(std::string_view text, size_t capacity) {
  auto& parser = parser_->of;
  if (!parser || parser->capacity() < capacity)
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(
            capacity, simdjson::DEFAULT_MAX_DEPTH, parser))
      return {};
  if (parser->stage1(reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                     simdjson::stage1_mode::regular))
    return {};
  const uint32_t* const first = parser->structural_indexes.get();
  return {text.data(), first, first + parser->n_structural_indexes};
}

}  // namespace dladvisor::kineto
