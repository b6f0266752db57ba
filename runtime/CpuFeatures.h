// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of the CPU features that compiled code names this machine has.
#ifndef FOVEA_RUNTIME_CPUFEATURES_H
#define FOVEA_RUNTIME_CPUFEATURES_H

#include <string>
#include <vector>

namespace fovea {

/// Those of `features` (LLVM's names, for example "avx512f") that the CPU or the
/// operating system lacks, or that this runtime does not know; empty if all is
/// well. Asks the system for the tile registers if AMX is among them.
std::vector<std::string> missingCpuFeatures(const std::vector<std::string> &features);

} // namespace fovea

#endif // FOVEA_RUNTIME_CPUFEATURES_H
