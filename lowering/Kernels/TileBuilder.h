// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of tile programs: which tiles of a group's values are wanted is said from the results
// backwards, and each op gives the tile of its result from those of its operands. What is
// elementwise between two tiles becomes one map. Sizes are the schedule's; nothing here knows a
// processor.
#ifndef FOVEA_LOWERING_KERNELS_TILEBUILDER_H
#define FOVEA_LOWERING_KERNELS_TILEBUILDER_H

#include "dialects/Tile/TileDialect.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/TileForm.h"
#include <map>

namespace mlir::fovea {

/// Columns [base + offset, base + offset + width) of a value as a matrix.
struct TileColumns {
  Value base; ///< index
  int64_t offset, width;

  TileColumns shifted(int64_t by) const { return {base, offset + by, width}; }
};

/// How large the tiles of a kernel are.
struct TileSizes {
  int64_t rows, columns;
  int64_t chunk; ///< rows that one block of work does, tile after tile
  /// Register block of products; empty without products.
  SmallVector<int64_t> block;
};

/// The axes of a buffer that become one: the outer ones each alone, then rows, then columns.
SmallVector<ReassociationIndices> getMatrixAxes(int64_t rank, unsigned rowAxes, unsigned outer);
/// All of them.
SmallVector<ReassociationIndices> getAllAxes(int64_t rank);

class TileBuilder {
public:
  TileBuilder(KernelBuilder &k, GroupOp group, const TileForm &form)
      : k(k), group(group), form(form), argmax(form.argmax) {}

  /// Whether the buffers lie so that they are matrices; the kernel cannot be built else.
  bool fits();

  /// The whole kernel: numbers that are needed before in phases of their own, then a grid over
  /// blocks of columns and chunks of rows, then a phase that joins what blocks found.
  void emit(const TileSizes &sizes);
  /// The kernel of a group whose elements are independent, on flattened tensors if they are dense.
  void emitElements(int64_t count);

private:
  using Scalar = std::function<Value(ValueRange)>;
  using Key = std::tuple<void *, int64_t, int64_t>;

  /// A result and where it goes.
  struct Sink {
    Value value, memory;
    Value length; ///< of the cache that grows, null for tensors
  };
  /// Results that are computed from the same columns, block by block.
  struct Strip {
    SmallVector<Sink> sinks;
    int64_t columns;
    int64_t head; ///< columns that belong together: a block has a whole number of them
    int64_t width, blocks;
    SmallVector<std::pair<int64_t, int64_t>> pieces; ///< of a head: offset and width
    bool hasArgmax = false; ///< whether the group's argmax is of these columns
  };
  /// A matrix in memory, and whether all rows share its only one.
  struct Rows {
    Value view;
    bool one;
  };

  // The rows.
  SmallVector<Value> memories(bool all);
  bool isCollapsible(unsigned outerAxes);
  SmallVector<Value> rowExtents(ArrayRef<Value> known);
  Value matrix(Value memory);
  Rows rowsOf(Value memory, bool shared = false);
  Value viewAt(Value memory, ValueRange at, ArrayRef<int64_t> axes, Value length = {});
  Value loadRows(Rows rows, Value column, int64_t width);

  // Code at the head of the kernel, or of a block of its work.
  template <typename F> auto atTop(F emit) {
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPointToEnd(&k.phases->phases.back().function.getBody().front());
    return emit();
  }
  template <typename F> auto atBlock(F emit) {
    OpBuilder::InsertionGuard guard(k);
    if (rowLoop)
      k.setInsertionPoint(rowLoop);
    return emit();
  }

  // Tiles of values.
  Value tile(Value value, TileColumns c);
  Scalar scalar(Value value, TileColumns c, SmallVectorImpl<Value> &leaves);
  Scalar leaf(Value tile, int64_t width, SmallVectorImpl<Value> &leaves);
  /// The same number as another floating-point type.
  Scalar convert(Scalar scalar, Type type);
  Scalar scalarOfOp(Operation *op, TileColumns c, SmallVectorImpl<Value> &leaves);
  Value wholeWeight(TypedValue<RankedTensorType> weight, TileColumns c);
  Value weightRows(LinearOp op, TileColumns c);
  Scalar linear(LinearOp op, TileColumns c, SmallVectorImpl<Value> &leaves);
  Scalar rope(RopeOp op, TileColumns c, SmallVectorImpl<Value> &leaves);
  Scalar norm(Operation *op, TileColumns c, SmallVectorImpl<Value> &leaves);
  Scalar softmax(Operation *op, TileColumns c, SmallVectorImpl<Value> &leaves);
  Value gather(Value table, Value numbers, int64_t offset, TileColumns c);
  Value parameter(Value value, TileColumns c);
  Value numbersOfRows(Value positions, int64_t width);
  void checkNumbers(Operation *op, Value numbers, int64_t offset, Value table);

  // Single ops.
  tile::TileType tileType(int64_t rows, int64_t columns, Type element = {});
  Value column(TileColumns c);
  Value broadcast(Value tile, int64_t rows, int64_t columns);
  Value map(tile::TileType type, ValueRange inputs, function_ref<Value(ValueRange)> body);
  Value reduce(tile::ReduceKind kind, Value tile);
  Value toF32(Value tile);

  // The kernel.
  /// A grid over the outer row axes and tiles of rows, for numbers that are computed before.
  void emitHelperGrid(SmallVector<Value> extents, function_ref<void()> body);
  void emitFactors(RmsNormOp op);
  void emitAngles(RopeOp op);
  void endPhase(StringRef name);
  void forgetBlock();
  SmallVector<Strip> findStrips(int64_t columns);
  void addArgmaxTemporaries(const Strip &strip);
  void emitGreatest(const Strip &strip, Value number, Value base);
  void emitArgmax();
  void emitBlock(const Strip &strip, Value number, Value begin, Value end, bool loops);
  void emitTile(const Strip &strip, Value number);
  void store(const Sink &sink, TileColumns c, const Strip &strip, Value head);
  void storeRows(Value tile, Value memory, Value column);

  KernelBuilder &k;
  GroupOp group;
  const TileForm &form;
  ArgmaxOp argmax; ///< the form's
  SmallVector<int64_t> block;
  int64_t tileRows = 1;
  int64_t helperRows = 1; ///< of tiles in phases before the last
  /// How many row axes are indices of the grid; the others are joined.
  unsigned outer = 0;
  /// The row axes are (batch, place) and there is one place: rows are batches.
  bool single = false;
  bool flat = false; ///< all elements are one row

  // Of the block that is being emitted.
  SmallVector<Value> at; ///< the grid's indices for the outer row axes
  Value row;             ///< the tile's first row
  Operation *rowLoop = nullptr;
  std::map<Key, Value> tiles, blockValues;
  llvm::DenseMap<Value, Value> matrices;
  std::map<Operation *, Value> statistics;
  std::map<void *, Value> wholeRows; ///< inputs of products

  std::map<Operation *, unsigned> factors;                     ///< temporaries
  std::map<Operation *, std::pair<unsigned, unsigned>> angles; ///< of cosines and of sines
  /// Each block's greatest elements and their columns; and which output the argmax is.
  unsigned greatest = 0, columnsOfGreatest = 0, argmaxOutput = 0;
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_KERNELS_TILEBUILDER_H
