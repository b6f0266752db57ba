// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMX on processors that lack it: instructions that trap are computed by hand, so that code for
// units of matrices is tested on every machine.
#ifndef FOVEA_TEST_GRID_AMXEMULATOR_H
#define FOVEA_TEST_GRID_AMXEMULATOR_H

namespace mlir::fovea::test {

/// Makes AMX usable in this process: asks Linux for its registers, or takes over SIGILL. Any other
/// instruction that traps ends the process as before.
void provideAmx();

} // namespace mlir::fovea::test

#endif // FOVEA_TEST_GRID_AMXEMULATOR_H
