// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statuses of the C interface.
#include "runtime/status/Status.h"

#include <cstdlib>

namespace fovea {
// Handed out when even a status cannot be allocated; never freed.
static fovea_status outOfMemory{FOVEA_OUT_OF_MEMORY, "out of memory"};

fovea_status *makeStatus(fovea_code code, std::string message) noexcept {
  auto *status = new (std::nothrow) fovea_status{code, {}};
  if (!status)
    return &outOfMemory;
  status->message = std::move(message);
  return status;
}
} // namespace fovea

fovea_code fovea_status_code(const fovea_status *status) {
  return status ? status->code : FOVEA_OK;
}

const char *fovea_status_message(const fovea_status *status) {
  return status ? status->message.c_str() : "";
}

void fovea_status_free(fovea_status *status) {
  if (status != &fovea::outOfMemory)
    delete status;
}

void fovea_free(void *memory) { std::free(memory); }
