// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside the runtime a failure is thrown; at the C boundary it becomes a status.
#ifndef FOVEA_RUNTIME_STATUS_STATUS_H
#define FOVEA_RUNTIME_STATUS_STATUS_H

#include "runtime/include/fovea/runtime.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

struct fovea_status {
  fovea_code code;
  std::string message;
};

namespace fovea {

/// Not a std::exception, so that nobody catches it by accident on the way.
struct Failure {
  fovea_code code;
  std::string message;
};

/// What the caller gave is at fault.
[[noreturn]] inline void failInvalid(std::string message) {
  throw Failure{FOVEA_INVALID, std::move(message)};
}
/// Compiled code or this library is at fault.
[[noreturn]] inline void failInternal(std::string message) {
  throw Failure{FOVEA_INTERNAL, std::move(message)};
}

/// A status for `code`; a static one if there is no memory for it.
fovea_status *makeStatus(fovea_code code, std::string message) noexcept;

/// Runs `body`; null if it returns, a status if it throws.
template <typename Body> fovea_status *guarded(Body body) noexcept {
  try {
    body();
    return nullptr;
  } catch (Failure &failure) {
    return makeStatus(failure.code, std::move(failure.message));
  } catch (const std::bad_alloc &) {
    return makeStatus(FOVEA_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error &) {
    return makeStatus(FOVEA_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return makeStatus(FOVEA_INTERNAL, error.what());
  }
}

} // namespace fovea

#endif // FOVEA_RUNTIME_STATUS_STATUS_H
