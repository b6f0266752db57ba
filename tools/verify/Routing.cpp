// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Routing.h.
#include "tools/verify/Routing.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

bool verify::hasRouters(ModuleOp module) {
  return module.walk([](TopKOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

void verify::ScoreDisturber::onResult(ArrayRef<func::CallOp>, OpResult result,
                                      RuntimeValue &value) {
  if (llvm::none_of(result.getUsers(), llvm::IsaPred<TopKOp>))
    return;
  Tensor scores = *std::get<TensorRef>(value);
  int64_t width = scores.shape.back();
  for (int64_t first = 0; first < scores.size(); first += width) {
    MutableArrayRef<double> row(&scores.reals[first], width);
    double scale = 0;
    for (double score : row)
      if (std::isfinite(score))
        scale = std::max(scale, std::fabs(score));
    for (double &score : row)
      score += std::uniform_real_distribution<double>(-amount, amount)(random) * scale;
  }
  value = std::make_shared<Tensor>(std::move(scores));
}
