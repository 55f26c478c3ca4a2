// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dladvisor {

// Gives memory that was freed back to the system: what one stage of a large profile needs on the way is a
// tenth of what the next one has.
void GiveBackFreedMemory();

}  // namespace dladvisor
