// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes for any processor, and the choice between this and the faster build of the same source.
#define VARIANT baseline
#include "emulator/AluLanes.inc"

namespace fovea::emulator {

namespace avx2 {
Handler find(const AluForm &form);
void multiply(float *acc, const float *a, const float *b, unsigned m, unsigned n, unsigned k);
} // namespace avx2

#if defined(__x86_64__)
static bool hasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

Handler findAlu(const AluForm &form) {
#if defined(__x86_64__)
  if (hasAvx2())
    return avx2::find(form);
#endif
  return baseline::find(form);
}

MultiplyF32 findMultiply() {
#if defined(__x86_64__)
  if (hasAvx2())
    return avx2::multiply;
#endif
  return baseline::multiply;
}

} // namespace fovea::emulator
