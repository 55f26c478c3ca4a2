// SPDX-License-Identifier: Apache-2.0
// What to do about an error that ends programs of deep learning, by its words.
#pragma once

#include <string_view>

namespace dladvisor {

// As the words of an order, without a stop; "" where the error says what it is about by itself, or where it
// is not known.
std::string_view ErrorRemedy(std::string_view error);

}  // namespace dladvisor
