// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one function that libfovea-emulator.so exports.
#ifndef FOVEA_RUNTIME_EMULATORLIBRARY_H
#define FOVEA_RUNTIME_EMULATORLIBRARY_H

#include "runtime/Device.h"

namespace fovea {

/// A new device, or null if the library is not of `version`. `late`: asynchronous work is done as
/// late as waits allow. `threads`: of this machine; 0: one for each core.
using CreateEmulator = Device *(const char *version, bool late, int threads);

} // namespace fovea

extern "C" __attribute__((visibility("default"))) fovea::CreateEmulator fovea_emulator_create;

#endif // FOVEA_RUNTIME_EMULATORLIBRARY_H
