// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `fovea` dialect: all that a pass or a lowering includes to use it.
#ifndef FOVEA_DIALECTS_FOVEA_FOVEADIALECT_H
#define FOVEA_DIALECTS_FOVEA_FOVEADIALECT_H

#include "dialects/Fovea/Tileable.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::fovea {

/// A tile of queries of one batch row and head, as values in the IR. All are `index`.
struct QueryTile {
  Value batch, head;
  Value queryBegin, queryEnd;     ///< places in the sequence, half-open
  Value positionMin, positionMax; ///< least and greatest query position in the tile, both inside
  Value keyLength;                ///< number of keys
  int64_t heads = 1;
};

/// Key positions [begin, end), both `index`. Empty if end <= begin.
struct KeyInterval {
  Value begin, end;
};

/// What MaskOpInterface::buildKeyIntervals returns; see there.
struct KeyIntervals {
  SmallVector<KeyInterval, 4> cover, full;
};

/// One query and one key, as values in the IR.
struct MaskPoint {
  Value batch, head, query, key;    ///< `index`
  Value queryPosition, keyPosition; ///< `i32`
};

/// Two sizes that must be equal when an op runs: of axes of tensors, or of a cache, whose axis 0 is
/// the batch and axis 1 the length.
struct SizeRule {
  Value tensor;
  int64_t axis;
  Value other;
  int64_t otherAxis;
  bool orOne = false; ///< the first may be one for all instead
};

/// Scalar code that an attention runs for one query and key: its score or its probability region.
/// The arguments are the number, an element of each operand (the operand itself if its map has no
/// results and it has axes), b and h (`index`) and the positions of query and key (`i32`); the new
/// number is yielded.
struct ElementRegion {
  Region &region;
  OperandRange operands;
  ArrayAttr maps; ///< from (b, h, i, j) to an operand's axes

  /// Arguments before the operands' elements, and behind them.
  static constexpr unsigned kFirst = 1, kPlaces = 4;

  explicit operator bool() const { return !region.empty(); }
  Block &getBlock() const { return region.front(); }
  AffineMap getMap(unsigned operand) const { return cast<AffineMapAttr>(maps[operand]).getValue(); }
  /// Whether an operand is handed over as a tensor.
  bool isWhole(unsigned operand) const;
  BlockArgument getArgument(unsigned operand) const { return region.getArgument(kFirst + operand); }
  Value getResult() const { return getBlock().getTerminator()->getOperand(0); }
};

/// What a weight is to the op that reads it.
enum class WeightRole {
  None,       ///< no weight
  Scales,     ///< of f32, one for each output of a quantised matrix or row of a table
  Parameter,  ///< of any float type: with a narrower one the op computes as before but for rounding
  Table,      ///< the same, and rows are read in any layout
  Matrix,     ///< the same, multiplied; may be packed and quantised
  GroupScales ///< of groups of inputs of a quantised matrix, in its layout
};

/// What the integers of an operand mean.
struct IntegerRole {
  enum Kind {
    Any,
    Row,      ///< of a table: below `limit`
    Position, ///< in a sequence
    Length,   ///< of a sequence, or of a part of it
    Segment,  ///< a document's number
  };
  Kind kind = Any;
  int64_t limit = 0;
};

} // namespace mlir::fovea

#include "dialects/Fovea/FoveaDialect.h.inc"
#include "dialects/Fovea/FoveaEnums.h.inc"
#include "dialects/Fovea/MaskInterface.h.inc"
#include "dialects/Fovea/OperandInterfaces.h.inc"
#include "dialects/Fovea/RecipeInterface.h.inc"
#include "dialects/Fovea/SizeInterface.h.inc"
#include "dialects/Fovea/TileableInterface.h.inc"
#include "dialects/Fovea/WeightsInterface.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Fovea/FoveaTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Fovea/FoveaAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/Fovea/FoveaOps.h.inc"

namespace mlir::fovea {

/// Bytes that `count` elements of a weight's or activation's element type take, one beside the
/// other; i1 takes a byte each, two of i4 share one, and blocks have theirs.
int64_t getStorageBytes(Type elementType, int64_t count);

/// Elements of a row that share a byte: two of i4, the even one in the low four bits; else one.
int64_t getElementsPerByte(Type elementType);

/// Whether elements are no bytes of their own: i4 and blocks.
bool sharesBytes(Type elementType);

/// The type of what a recipe gives.
inline RankedTensorType getTypeOfRecipe(Attribute recipe) {
  return cast<RecipeAttrInterface>(recipe).getRecipeType();
}

/// How a tensor lies in panels; null for what is row-major or no tensor.
PanelsAttr getPanels(Type type);

/// The sizes of a tensor in memory, of `getStorageType`: its shape, or that of its panels. The last
/// axis of i4 and of blocks is counted in bytes; a panel of blocks is one row.
SmallVector<int64_t> getStorageShape(RankedTensorType type);

/// What the buffer of such elements holds: i8 for i4 and blocks, else the same.
Type getStorageType(Type elementType);

/// Bytes of a tensor of static shape in memory; nothing if 63 bits cannot count them.
std::optional<int64_t> getStorageBytes(RankedTensorType type);

/// The buffer that holds a tensor.
MemRefType getBufferType(RankedTensorType type);

/// What an operand is by WeightsOpInterface; None to ops without it.
WeightRole getWeightRole(OpOperand &use);

/// Whether the operand is a weight of any float type.
bool isWeight(OpOperand &use);

/// Whether the op reads this operand in whichever layout it lies.
bool readsAnyLayout(OpOperand &use);

/// Whether an op rounds the rows of its input to integers.
bool quantizesRows(Operation *op);

/// A key tile's intervals for a mask that may be absent: then everything is covered and full.
KeyIntervals buildKeyIntervals(OpBuilder &builder, Location loc, Value mask, const QueryTile &tile);

/// The predicate of a mask that may be absent: then constant true.
Value buildPredicate(OpBuilder &builder, Location loc, Value mask, const MaskPoint &point);

/// What is known of the pairs that a mask is asked for.
struct MaskPairs {
  std::optional<int64_t> keys; ///< how many, if that is static and their positions are indices
  bool areIndices = false;     ///< positions of queries and of keys are their indices
};

/// A mask that says the same of these pairs and is simpler, also inside and/or/not; failure if
/// there is none.
FailureOr<Value> simplifyMask(OpBuilder &builder, Value mask, const MaskPairs &pairs);

/// The row of `tensor`, whose first axis is one row for each batch row or one for all, that counts
/// for `batch`, an `index`. An axis of dynamic size may turn out to be of size one.
Value getRowOfBatch(OpBuilder &builder, Location loc, Value tensor, Value batch);

/// Checks that the tensors of a mask's ops fit those who use it: `sizes` are batch, heads, query
/// length and key length, dynamic where open. Reports at `user`.
LogicalResult verifyMask(Operation *user, Value mask, ArrayRef<int64_t> sizes);

/// The same for open sizes: `sizes` are axes of values, null where the type says the size.
void requireMaskSizes(Value mask, ArrayRef<std::pair<Value, int64_t>> sizes,
                      function_ref<void(SizeRule)> require);

/// Whether the type says that the tensor's first axis is one for all batch rows.
inline bool isOneForAll(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(0) == 1;
}

/// Checks that a table that rows are read of has a static shape, and rows: what is outside of it is
/// a fault that reads the first one.
LogicalResult verifyTable(Operation *op, RankedTensorType table);

/// Checks that the element type of a result holds every value of the table's it is read from.
LogicalResult verifyWidening(Operation *op, RankedTensorType from, RankedTensorType to);

/// Whether two sizes can be the same at run time.
inline bool agree(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

/// The same for each axis of two shapes, which must have as many.
inline bool agree(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return agree(std::get<0>(pair), std::get<1>(pair));
         });
}

/// Asks for sizes of values inside a group, as values outside of it.
class GroupSizes {
public:
  explicit GroupSizes(GroupOp group);
  /// The size of one axis of `inside`, a tensor of the group's region, computed from the group's
  /// operands; failure if it depends on more than their sizes.
  FailureOr<OpFoldResult> get(OpBuilder &builder, Value inside, int64_t axis);

private:
  GroupOp group;
  IRMapping mapping;
  OwningOpRef<GroupOp> copy;
};

/// Whether each element of the only result is computed from elements in the same place: by the
/// traits of elementwise ops, or by TileableOpInterface.
bool isElementwiseOp(Operation *op);
/// The same, and maps of linalg that compute elements so.
bool isComputedByElement(Operation *op);
/// Whether the body of a linalg op computes with the inputs' floats alone, by ops that no number is
/// a fault of.
bool isScalarBody(Operation *op);

/// Whether the op transforms floats by weights: a projection or a norm.
bool isWeighted(Operation *op);

/// The shapes of the results of an op with AxesOpInterface.
LogicalResult reifyByAxes(OpBuilder &builder, Operation *op, ReifiedRankedShapedTypeDims &shapes);

/// What TileableOpInterface says of an op; nothing of an op without it.
TileNeeds getTileNeeds(Operation *op);

/// Attaches TileableOpInterface to upstream ops: softmax, broadcasts over the batch and views.
void attachTileableModels(MLIRContext &context);
void attachTileableContraction(MLIRContext &context); ///< called by it

/// What a broadcast over the batch repeats, before its batch axis of size 1 was dropped, if it had
/// one.
Value getBroadcastSource(Operation *op);

/// The size of one axis of a ranked tensor, static or `tensor.dim`.
OpFoldResult getSize(OpBuilder &builder, Location loc, Value tensor, int64_t axis);

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_FOVEA_FOVEADIALECT_H
