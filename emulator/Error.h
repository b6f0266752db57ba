// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the emulator throws: one sentence that names file and line of the PTX.
#ifndef FOVEA_EMULATOR_ERROR_H
#define FOVEA_EMULATOR_ERROR_H

#include <sstream>
#include <stdexcept>
#include <string>

namespace fovea::emulator {

/// Wrong PTX text, a wrong argument of a launch, or a fault that a kernel made.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string &message) : std::runtime_error(message) {}
};

/// Writes all `parts` one after the other.
template <typename... Parts> std::string text(const Parts &...parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// `0x` and the number in base sixteen.
inline std::string hex(uint64_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << value;
  return out.str();
}

template <typename... Parts> [[noreturn]] void fail(const Parts &...parts) {
  throw Error(text(parts...));
}

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_ERROR_H
