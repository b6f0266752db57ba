// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels into which bugs are planted.
#ifndef FOVEA_TEST_MUTATION_KERNELS_H
#define FOVEA_TEST_MUTATION_KERNELS_H

#include "test/mutation/Judge.h"

namespace fovea::mutation {

/// Attention by mma.sync and by wgmma, as in test/emulator.
std::vector<Kernel> makeAttentionKernels(const std::string &folder);

/// How many tile programs there are, their names, and the `i`th through all passes of a GPU; it has
/// no name if it does not compile.
size_t countTileKernels();
std::string nameTileKernel(size_t i);
Kernel makeTileKernel(size_t i);

} // namespace fovea::mutation

#endif // FOVEA_TEST_MUTATION_KERNELS_H
