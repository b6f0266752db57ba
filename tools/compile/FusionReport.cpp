// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fusion report. It reads what the IR says, and judges nothing else.
#include "tools/compile/FusionReport.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "tools/compile/Report.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fovea;

/// The kinds of mask ops below a mask, each once: "causal", "window", ...
static llvm::json::Array getMaskKinds(Value mask) {
  llvm::json::Array kinds;
  llvm::SetVector<Value> masks;
  llvm::SetVector<llvm::StringRef> names;
  if (mask)
    masks.insert(mask);
  for (size_t i = 0; i < masks.size(); ++i) {
    Operation *op = masks[i].getDefiningOp();
    if (!op)
      continue;
    StringRef name = op->getName().stripDialect();
    if (name.consume_front("mask_") && name != "and" && name != "or" && name != "not")
      names.insert(name);
    for (Value operand : op->getOperands())
      if (isa<MaskType>(operand.getType()))
        masks.insert(operand);
  }
  for (llvm::StringRef name : names)
    kinds.push_back(name);
  return kinds;
}

/// The score region's ops in one line; empty without one.
static std::string getScore(AttentionOp attention) {
  std::string line;
  if (!attention.hasScore())
    return line;
  for (Operation &op : attention.getScore().front().without_terminator())
    line += (line.empty() ? "" : "; ") + op.getName().getStringRef().str();
  return line;
}

FusionReport mlir::fovea::buildFusionReport(ModuleOp module) {
  FusionReport report;
  module.walk([&](Operation *op) {
    std::string place = placeOf(op->getLoc());
    if (auto attention = dyn_cast<AttentionOp>(op)) {
      report.attention.push_back(llvm::json::Object{
          {"location", place},
          {"status", "fused"},
          {"masks", getMaskKinds(attention.getMask())},
          {"score", getScore(attention)},
          {"reason",
           attention.getWeights() ? "fused, but the weights are asked for and written" : ""},
      });
    } else if (isa<linalg::SoftmaxOp>(op)) {
      ++report.missed;
      report.attention.push_back(llvm::json::Object{
          {"location", place},
          {"status", "not fused"},
          {"masks", llvm::json::Array()},
          {"score", ""},
          {"reason", "a softmax that no frontend made an attention of; write fovea.attention"},
      });
    }
  });
  return report;
}
