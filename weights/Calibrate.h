// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// int4 by the inputs that a matrix meets: numbers are rounded one input after the other, and what
// rounding one changed is made up for by those that are still to come, as far as their inputs go
// together.
//
// This is GPTQ (Frantar et al. 2023, "GPTQ: Accurate Post-Training Quantization for Generative
// Pre-trained Transformers") in the form of LDLQ, which gives the same numbers from one
// factorisation and no inverse (Chee et al. 2023, "QuIP", section 3.2 and theorem 6).
#ifndef FOVEA_WEIGHTS_CALIBRATE_H
#define FOVEA_WEIGHTS_CALIBRATE_H

#include "mlir/IR/MLIRContext.h"
#include <vector>

namespace mlir::fovea {

/// The sum of x xᵀ over inputs x: a symmetric matrix of which only what is on and below the
/// diagonal is kept.
class InputMoments {
public:
  explicit InputMoments(int64_t inputs) : inputs(inputs), sums(inputs * inputs) {}

  /// Adds rows of inputs, [rows.size() / inputs, inputs], on the context's threads. False if one of
  /// them is not finite; nothing is added then.
  bool add(MLIRContext *context, ArrayRef<float> rows);

  int64_t getInputs() const { return inputs; }
  /// Rows that were added.
  int64_t getCount() const { return count; }

private:
  friend class InputFactor;

  const int64_t inputs;
  int64_t count = 0;
  std::vector<float> sums;
};

/// Codes of i4, two to a byte, the even input in the low bits, and scales of f16, of some outputs.
struct CalibratedRows {
  char *codes;  ///< [rows, inputs / 2]
  char *scales; ///< [rows, inputs / 32] of two bytes
};

/// What an output of a matrix loses, over all inputs: squares, on average over an input.
struct CalibrationLoss {
  double lost = 0;   ///< of the difference to the output as it was
  double energy = 0; ///< of the output as it was, estimated from some of the rows
};

/// The mean of x xᵀ, and a hundredth of its diagonal's mean on its diagonal, as F D Fᵀ: F is
/// triangular with ones on its diagonal, D is diagonal. F[j, k] says how much of the number of
/// input k makes up for what was lost at an input j before it, and D[k] what a number of input k
/// costs that nothing makes up for.
class InputFactor {
public:
  /// Takes the place of the sums.
  InputFactor(MLIRContext *context, InputMoments moments);

  /// Rounds `count` rows of a matrix, one or more, [count, inputs]; on the calling thread. False if
  /// a number is not finite or too great for scales of f16.
  bool quantize(const float *rows, int64_t count, CalibratedRows out, CalibrationLoss &loss) const;

private:
  void factor(MLIRContext *context, float least);
  void turnOver();
  void addEnergy(const float *rows, int64_t count, CalibrationLoss &loss) const;

  int64_t inputs;
  std::vector<float> feedback; ///< F, [inputs, inputs], of which what is above the diagonal is read
  std::vector<float> costs;    ///< D
};

} // namespace mlir::fovea

#endif // FOVEA_WEIGHTS_CALIBRATE_H
