// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choices of experts that may fall otherwise: where two scores are as far apart as rounding moves
// them, either choice is right, and what follows differs by more than rounding.
#ifndef FOVEA_TOOLS_VERIFY_ROUTING_H
#define FOVEA_TOOLS_VERIFY_ROUTING_H

#include "interpreter/Interpreter.h"
#include <random>

namespace mlir::fovea::verify {

/// Whether anything is chosen by scores.
bool hasRouters(ModuleOp module);

/// Moves all scores by which experts are chosen, at random, by at most `amount` times the greatest
/// of their row.
class ScoreDisturber : public interpreter::Observer {
public:
  explicit ScoreDisturber(double amount) : amount(amount) {}
  void restart(uint64_t seed) { random.seed(seed); }
  void onResult(ArrayRef<func::CallOp> calls, OpResult result,
                interpreter::RuntimeValue &value) override;

private:
  double amount;
  std::mt19937_64 random;
};

} // namespace mlir::fovea::verify

#endif // FOVEA_TOOLS_VERIFY_ROUTING_H
