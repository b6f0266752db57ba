// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-add-decode: what reads many tokens, once more for one. The pass's text says when.
#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Fovea/Ports.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_ADDDECODEPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// The argument [B, S] of an entry that holds its tokens, with both sizes open.
static std::optional<unsigned> findTokens(func::FuncOp entry) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto type = dyn_cast<RankedTensorType>(entry.getArgumentTypes()[i]);
    if (type && getArgumentRole(entry, i) == PortRole::TokenIds && type.getRank() == 2)
      return type.isDynamicDim(0) && type.isDynamicDim(1) ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

/// Axes that a slice drops are said by a reshape: where a second axis becomes one element long,
/// upstream folds take it for a dropped one.
static void keepAxes(tensor::ExtractSliceOp slice) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  if (dropped.none())
    return;
  RankedTensorType type = slice.getType();
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups(std::max<int64_t>(type.getRank(), 0));
  int64_t kept = 0, rank = slice.getSourceType().getRank();
  for (int64_t axis = 0; axis < rank; ++axis) {
    shape.push_back(dropped.test(axis) ? 1 : type.getDimSize(kept));
    if (!groups.empty())
      groups[std::min<int64_t>(kept, groups.size() - 1)].push_back(axis);
    kept += !dropped.test(axis);
  }
  OpBuilder b(slice);
  Value whole = tensor::ExtractSliceOp::create(b, slice.getLoc(), type.clone(shape),
                                               slice.getSource(), slice.getMixedOffsets(),
                                               slice.getMixedSizes(), slice.getMixedStrides());
  Value result = tensor::CollapseShapeOp::create(b, slice.getLoc(), type, whole, groups);
  slice.replaceAllUsesWith(result);
  slice.erase();
}

/// A copy of the entry whose argument has one token of each row.
static func::FuncOp copyForOne(func::FuncOp prefill, unsigned tokens) {
  OpBuilder b(prefill);
  b.setInsertionPointAfter(prefill);
  auto decode = cast<func::FuncOp>(b.clone(*prefill));
  decode.setName("decode");
  decode->removeAttr(FoveaDialect::kKindAttr);
  auto open = cast<RankedTensorType>(decode.getArgumentTypes()[tokens]);
  auto one = open.clone({ShapedType::kDynamic, 1});
  SmallVector<Type> arguments(decode.getArgumentTypes());
  arguments[tokens] = one;
  decode.setFunctionType(b.getFunctionType(arguments, decode.getResultTypes()));
  if (auto dims = decode.getArgAttrOfType<ArrayAttr>(tokens, FoveaDialect::kDimsAttr))
    decode.setArgAttr(tokens, FoveaDialect::kDimsAttr, b.getArrayAttr(dims[0]));
  BlockArgument argument = decode.getArgument(tokens);
  argument.setType(one);
  decode.walk(keepAxes);
  b.setInsertionPointToStart(&decode.getBody().front());
  auto cast = tensor::CastOp::create(b, argument.getLoc(), open, argument);
  argument.replaceAllUsesExcept(cast, cast);
  return decode;
}

/// Whether all that the entry's caches hold is read by attentions; else it is no entry, with the
/// reason told.
static bool readsCachesByAttention(func::FuncOp prefill) {
  CacheReadOp read;
  prefill.walk([&](CacheReadOp op) { read = op; });
  if (read)
    read.emitWarning(
        "generate, chat and bench of texts are not for this model: expects an attention "
        "that reads the past as keys or values, got one that is not recognised");
  return !read;
}

namespace {
struct AddDecodePass : fovea::impl::AddDecodePassBase<AddDecodePass> {
  void runOnOperation() override {
    func::FuncOp prefill = findEntry(getOperation(), EntryKind::Prefill);
    if (!prefill || !(findEntry(getOperation(), EntryKind::Forward) ||
                      findEntry(getOperation(), EntryKind::Encode)))
      return;
    if (!readsCachesByAttention(prefill))
      return prefill.erase();
    if (findEntry(getOperation(), EntryKind::Decode) || getOperation().lookupSymbol("decode"))
      return;
    std::optional<unsigned> tokens = findTokens(prefill);
    if (!tokens)
      return;
    OpPassManager refine(func::FuncOp::getOperationName());
    refine.addPass(createRefineShapesPass());
    if (failed(runPipeline(refine, copyForOne(prefill, *tokens))))
      return signalPassFailure();
    ++numEntries;
  }
};
} // namespace
