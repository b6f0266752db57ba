// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of a kernel as fovea-ptx's command line writes them.
#ifndef FOVEA_TOOLS_FOVEA_PTX_ARGUMENTS_H
#define FOVEA_TOOLS_FOVEA_PTX_ARGUMENTS_H

#include "emulator/Launch.h"
#include "tools/verbs/Npz.h"

#include <string>
#include <vector>

namespace fovea {

/// What an argument points at, to be printed or saved after the launch.
struct Buffer {
  std::string name; ///< "arg2", or the array's name
  uint64_t address = 0;
  verbs::Array array; ///< element type and shape; the data is read afterwards
};

/// Reads one argument, `text`, number `index`; memory comes from `device`. Throws
/// emulator::Error that says what is expected.
void addArgument(const std::string &text, size_t index, emulator::Device &device,
                 emulator::Arguments &arguments, std::vector<Buffer> &buffers);

} // namespace fovea

#endif // FOVEA_TOOLS_FOVEA_PTX_ARGUMENTS_H
