// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks: each op becomes a predicate on one query and one key, as its text says it.
#include "interpreter/Frame.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

/// Masks inside each other; a predicate calls those of its parts.
static constexpr unsigned kMaxDepth = 256;

static LogicalResult setMask(Operation *op, Frame &frame,
                             std::function<FailureOr<bool>(const QueryKey &)> allows,
                             unsigned depth = 1) {
  if (depth > kMaxDepth)
    return op->emitOpError("expects at most ") << kMaxDepth << " masks inside each other";
  return frame.set(op,
                   RuntimeValue(MaskRef(std::make_shared<Mask>(Mask{depth, std::move(allows)}))));
}

/// Element of an integer tensor; an axis of size one counts for all places.
static FailureOr<int64_t> lookup(Operation *op, const Tensor &table, ArrayRef<int64_t> places) {
  SmallVector<int64_t, 4> indices;
  for (auto [place, size] : llvm::zip_equal(places, table.shape))
    indices.push_back(size == 1 ? 0 : place);
  if (!table.contains(indices))
    return op->emitOpError("expects an index inside [")
           << table.shape << "], got [" << indices << "]";
  return table.integers[table.place(indices)];
}

static LogicalResult runCausal(MaskCausalOp op, Frame &frame) {
  return setMask(op, frame, [](const QueryKey &p) { return p.keyPosition <= p.queryPosition; });
}

static LogicalResult runWindow(MaskWindowOp op, Frame &frame) {
  std::optional<int64_t> left = op.getLeft(), right = op.getRight();
  return setMask(op, frame, [left, right](const QueryKey &p) {
    // Positions have 32 bits and bounds 64: so written, nothing overflows.
    return (!left || p.queryPosition - p.keyPosition <= *left) &&
           (!right || p.keyPosition - p.queryPosition <= *right);
  });
}

static LogicalResult runLength(MaskLengthOp op, Frame &frame) {
  TensorRef lengths = frame.tensorRef(op.getLengths());
  return setMask(op, frame, [op, lengths](const QueryKey &p) -> FailureOr<bool> {
    FailureOr<int64_t> length = lookup(op, *lengths, {p.batch});
    return failed(length) ? FailureOr<bool>(failure()) : p.keyPosition < *length;
  });
}

static LogicalResult runPrefix(MaskPrefixOp op, Frame &frame) {
  TensorRef lengths = frame.tensorRef(op.getLengths());
  return setMask(op, frame, [op, lengths](const QueryKey &p) -> FailureOr<bool> {
    TRY(int64_t length, lookup(op, *lengths, {p.batch}));
    return p.keyPosition <= p.queryPosition || p.keyPosition < length;
  });
}

static LogicalResult runSegment(MaskSegmentOp op, Frame &frame) {
  TensorRef queries = frame.tensorRef(op.getQuerySegments());
  TensorRef keys = frame.tensorRef(op.getKeySegments());
  // One row may count for the whole batch, but a sequence of length one is what it is.
  auto segment = [op](const Tensor &segments, int64_t batch, int64_t at) -> FailureOr<int64_t> {
    int64_t row = segments.shape[0] == 1 ? 0 : batch;
    if (!segments.contains({row, at}))
      return op->emitOpError("expects an index inside [")
             << segments.shape << "], got [" << row << ", " << at << "]";
    return segments.integers[segments.place({row, at})];
  };
  return setMask(op, frame, [=](const QueryKey &p) -> FailureOr<bool> {
    FailureOr<int64_t> query = segment(*queries, p.batch, p.query);
    FailureOr<int64_t> key = segment(*keys, p.batch, p.key);
    if (failed(query) || failed(key))
      return failure();
    return *query == *key;
  });
}

static LogicalResult runGlobal(MaskGlobalOp op, Frame &frame) {
  int64_t tokens = op.getTokens();
  return setMask(op, frame, [tokens](const QueryKey &p) {
    return p.keyPosition < tokens || p.queryPosition < tokens;
  });
}

static LogicalResult runDense(MaskDenseOp op, Frame &frame) {
  TensorRef mask = frame.tensorRef(op.getMask());
  return setMask(op, frame, [op, mask](const QueryKey &p) -> FailureOr<bool> {
    int64_t places[] = {p.batch, p.head, p.query, p.key};
    FailureOr<int64_t> element = lookup(op, *mask, ArrayRef(places).take_back(mask->rank()));
    return failed(element) ? FailureOr<bool>(failure()) : *element != 0;
  });
}

/// `and` stops at the first part that forbids, `or` at the first that allows.
static LogicalResult runCombined(Operation *op, Frame &frame, bool stopAt) {
  SmallVector<MaskRef> parts;
  unsigned depth = 0;
  for (Value operand : op->getOperands()) {
    parts.push_back(frame.mask(operand));
    depth = std::max(depth, parts.back()->depth);
  }
  return setMask(
      op, frame,
      [parts, stopAt](const QueryKey &p) -> FailureOr<bool> {
        for (const MaskRef &part : parts) {
          FailureOr<bool> allowed = part->allows(p);
          if (failed(allowed) || *allowed == stopAt)
            return allowed;
        }
        return !stopAt;
      },
      depth + 1);
}

static LogicalResult runAnd(MaskAndOp op, Frame &frame) { return runCombined(op, frame, false); }
static LogicalResult runOr(MaskOrOp op, Frame &frame) { return runCombined(op, frame, true); }

static LogicalResult runNot(MaskNotOp op, Frame &frame) {
  MaskRef inner = frame.mask(op.getMask());
  return setMask(
      op, frame,
      [inner](const QueryKey &p) -> FailureOr<bool> {
        FailureOr<bool> allowed = inner->allows(p);
        return failed(allowed) ? allowed : FailureOr<bool>(!*allowed);
      },
      inner->depth + 1);
}

static LogicalResult runMaterialize(MaskMaterializeOp op, Frame &frame) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<int64_t> shape(type.getShape());
  auto size = op.getSizes().begin();
  for (int64_t &axis : shape)
    if (ShapedType::isDynamic(axis))
      axis = frame.integer(*size++);
  TRY(Tensor result, frame.makeTensor(op, shape, /*isReal=*/false));
  FailureOr<PositionReader> queries =
      PositionReader::get(op, frame, op.getQueryPositions(), shape[0], shape[2]);
  FailureOr<PositionReader> keys =
      PositionReader::get(op, frame, op.getKeyPositions(), shape[0], shape[3]);
  if (failed(queries) || failed(keys))
    return failure();
  MaskRef mask = frame.mask(op.getMask());
  int64_t at = 0;
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t h = 0; h < shape[1]; ++h)
      for (int64_t i = 0; i < shape[2]; ++i)
        for (int64_t j = 0; j < shape[3]; ++j) {
          TRY(bool allowed, mask->allows({b, h, i, j, queries->at(b, i), keys->at(b, j)}));
          result.integers[at++] = allowed;
        }
  return frame.set(op, std::move(result));
}

void interpreter::addMaskOps(HandlerTable &table) {
  table.add(runCausal);
  table.add(runWindow);
  table.add(runLength);
  table.add(runPrefix);
  table.add(runSegment);
  table.add(runGlobal);
  table.add(runDense);
  table.add(runAnd);
  table.add(runOr);
  table.add(runNot);
  table.add(runMaterialize);
}
