// SPDX-License-Identifier: Apache-2.0
// What becomes of memory that a program frees. By default glibc maps each large block anew and unmaps it when
// it is freed, so that the kernel hands out and clears the same memory again and again: a twentieth of the
// CPU time of a report of ten million kernels.
#pragma once

namespace dladvisor {

// Lets freed memory serve the next allocation: for programs, at their start.
void ReuseFreedMemory();

// Gives memory that was freed back to the system, where it is much: what one stage of a large profile needs
// on the way is a tenth of what the next one has.
void GiveBackFreedMemory();

}  // namespace dladvisor
