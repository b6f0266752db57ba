// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the grid asks a process that runs code for another family of processors, and what that
// answers. Both have the same memory at the same addresses.
#ifndef FOVEA_TEST_GRID_REMOTE_REQUEST_H
#define FOVEA_TEST_GRID_REMOTE_REQUEST_H

#include "test/grid/remote/Call.h"
#include <cstdint>

namespace fovea::remote {

constexpr uint64_t kAddress = 0x200000000000, kBytes = uint64_t(1) << 30;

enum class Kind : uint64_t {
  Open,   ///< `name` is a file; the answer a handle
  Close,  ///< words: a handle
  Call,   ///< `name` is a symbol; words: a handle, what the stack is filled with, kWords arguments
  Protect ///< words: an address, bytes, 1 if they may be touched
};

struct Request {
  Kind kind;
  uint64_t words[2 + kWords];
  char name[64];
};

struct Answer {
  uint64_t word; ///< 0 where what was asked cannot be done
  char error[256];
};

} // namespace fovea::remote

#endif // FOVEA_TEST_GRID_REMOTE_REQUEST_H
