// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of tile programs: which tiles of a group's values are wanted is said from the results
// backwards, and each op gives the tile of its result from those of its operands (the models of
// KernelOpInterface). What is elementwise between two tiles becomes one map. Sizes are the
// schedule's; nothing here knows a processor.
#ifndef FOVEA_LOWERING_KERNELS_TILEBUILDER_H
#define FOVEA_LOWERING_KERNELS_TILEBUILDER_H

#include "dialects/Tile/TileDialect.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/KernelInterface.h"
#include "passes/Analysis/TileForm.h"
#include <map>

namespace mlir::fovea {

struct ContractionSizes;

/// How large the tiles of a kernel are.
struct TileSizes {
  int64_t rows, columns;
  int64_t chunk; ///< rows that one block of work does, tile after tile
  /// Register block of products; empty without products.
  SmallVector<int64_t> block;
  bool rowsOutermost = false; ///< of the grid, beside blocks of columns
  Type operands = Type();     ///< what rows that are quantised become; null: f32
};

/// The schedule of products with these sizes; `operands` is what rows that are quantised become.
Attribute makeContraction(MLIRContext *context, const ContractionSizes &sizes,
                          Type operands = Type());

/// Axes of a buffer, one or two, as a matrix, at these indices of all others; `length`, if given,
/// is its number of rows.
Value createView(KernelBuilder &k, Value memory, ValueRange at, ArrayRef<int64_t> axes,
                 Value length = {});

/// `body` of the elements of tiles; it emits by `k`.
Value createMap(KernelBuilder &k, tile::TileType type, ValueRange inputs,
                function_ref<Value(ValueRange)> body);

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

  //===-- For models of ops: values as tiles ------------------------------------------------===//

  /// The tile of a value: what is elementwise between it and tiles in memory is one map.
  Value tile(Value value, TileColumns c);
  /// One element of a value, in the value's own type: what is computed in f32 for halves is rounded
  /// where the source rounds, in each op's result.
  TileElement element(Value value, TileColumns c, TileLeaves &leaves);
  /// The same of an operand of an elementwise op. What is a result and is read besides is computed
  /// once.
  TileElement operandOf(Value operand, TileColumns c, TileLeaves &leaves);
  /// One element of a tile.
  TileElement leaf(Value tile, int64_t width, TileLeaves &leaves);
  /// The same number as another floating-point type.
  TileElement convert(TileElement element, Type type);
  TileElement add(TileElement l, TileElement r);
  TileElement mul(TileElement l, TileElement r);
  /// The product of whole rows of `input`, of `depth` columns, with rows of a weight that `emit`
  /// loads; once for each op and columns. Rows of one input are loaded once.
  Value product(Operation *op, Value input, int64_t depth, TileColumns c,
                function_ref<Value()> emit);
  /// The same of rows that a phase before has left in the first of these temporaries, with sums of
  /// `sum`. A second one has the sums of the rows' groups.
  Value productOfTemporary(Operation *op, ArrayRef<unsigned> numbers, int64_t depth, TileColumns c,
                           Type sum, function_ref<Value()> emit);
  /// What `emit` makes for these columns, once.
  Value once(Operation *op, TileColumns c, function_ref<Value()> emit);
  /// `acc + a b^T`, of as many rows as tiles have, in the type `sum`; a null `acc` is zero. `sums`
  /// are those of a's groups, or null.
  Value multiply(Value a, Value b, int64_t columns, Type sum, Value acc = {}, Value sums = {});

  //===-- Memory ----------------------------------------------------------------------------===//

  /// A matrix in memory, and whether all rows share its only one.
  struct Rows {
    Value view;
    bool one;
  };
  /// The rows of a buffer. Without a batch axis (`shared`) or with one of size 1, all batches have
  /// the same.
  Rows rowsOf(Value memory, bool shared = false);
  Value loadRows(Rows rows, Value column, int64_t width);
  void storeRows(Value tile, Value memory, Value column);
  /// A row of numbers for all rows, as floats of `type`: a bias, a norm's weight.
  Value parameter(Value value, TileColumns c, Type type);
  /// A table or weight as a matrix, whether it lies in panels or not.
  Value tableView(Value table);
  Value viewAt(Value memory, ValueRange at, ArrayRef<int64_t> axes, Value length = {});
  /// These columns of what a row's part has: one part's lie behind the other's, `size` each. The
  /// columns themselves where rows have no parts.
  TileColumns ofPart(TileColumns c, int64_t size);
  /// The block's indices for the row axes that are no tiles' rows, in their order.
  ArrayRef<Value> getOuterIndices() const { return at; }
  /// Columns of a buffer, in each pair of which the two have changed places.
  Value pairsSwapped(Value value, TileColumns c);
  /// One number of a vector for each row's number, which is in bounds where that was checked.
  Value numbersOfTable(Value vector, Value numbers);
  /// Rows of a table by their numbers.
  Value gather(Value table, Value numbers, int64_t offset, TileColumns c);
  /// All rows of a buffer as one matrix: its leading axes are joined.
  Value joinedRows(Value memory);
  /// Records a fault for each row of the tile one of whose numbers, with the offset, is not below
  /// `height`.
  void checkNumbers(Value numbers, int64_t offset, Value height);
  /// The positions of the tile's rows, each `width` times, or numbers that a caller gives instead.
  Value numbersOfRows(Value positions, int64_t width);
  /// Buffers with the group's rows; with `all`, those that batches share too.
  SmallVector<Value> memories(bool all);

  //===-- Single ops ------------------------------------------------------------------------===//

  tile::TileType tileType(int64_t rows, int64_t columns, Type element);
  Value column(TileColumns c);
  Value broadcast(Value tile, int64_t rows, int64_t columns);
  Value map(tile::TileType type, ValueRange inputs, function_ref<Value(ValueRange)> body);
  Value reduce(tile::ReduceKind kind, Value tile);
  /// The tile with other elements.
  Value castTo(Value tile, Type element);

  //===-- Phases before ---------------------------------------------------------------------===//

  /// Temporaries that an op's phase fills and its tiles read.
  void setTemporaries(Operation *op, ArrayRef<unsigned> numbers);
  ArrayRef<unsigned> getTemporaries(Operation *op) const { return temporaries.at(op); }
  /// An op that has had its phase and for which `isSame` holds, or null.
  Operation *findPhase(function_ref<bool(Operation *)> isSame) const;
  /// Columns of a temporary's rows, once for each of them.
  Value loadTemporary(unsigned number, int64_t column, int64_t width);
  /// A grid over the outer row axes and tiles of rows.
  void emitHelperGrid(SmallVector<Value> extents, function_ref<void()> body);
  void endPhase(StringRef name);
  /// What a phase before finds for each row: `columns` of it, or one number if that is zero.
  struct RowTemporary {
    Type type;
    int64_t columns = 0;
  };
  /// A phase called `name` that finds these for each row of `memory`: `emit` gives a tile for each.
  void emitPhaseOfRows(Operation *op, Value memory, ArrayRef<RowTemporary> found, StringRef name,
                       function_ref<SmallVector<Value>()> emit);
  /// The first that was found, which is one float for each row, in a tile of `width` columns.
  Value numberOfRows(Operation *op, int64_t width);

  /// Code at the head of the kernel, or of a block of its work.
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

  KernelBuilder &k;
  int64_t tileRows = 1;
  int64_t helperRows = 1; ///< of tiles in phases before the last
  Type operands;          ///< what rows that are quantised become; null: f32
  /// The row axes are (batch, place) and there is one place: rows are batches.
  bool single = false;

private:
  using Key = std::tuple<void *, int64_t, int64_t>;

  /// A result and where it goes.
  struct Sink {
    Value value, memory;
    Value length; ///< of the cache that grows, null for tensors
    Value scales; ///< memory of its rows' scales, if it is of integers
  };
  /// Results that are computed from the same columns, block by block.
  struct Strip {
    SmallVector<Sink> sinks;
    int64_t columns;
    int64_t head;          ///< columns that belong together: a block has a whole number of them
    int64_t width, blocks; ///< of open columns there are any number of blocks
    SmallVector<std::pair<int64_t, int64_t>> pieces; ///< of a head: offset and width
    bool hasArgmax = false; ///< whether the group's argmax is of these columns
  };

  // The rows.
  bool isCollapsible(unsigned outerAxes);
  Value sizeOf(TensorAxis axis);
  SmallVector<Value> rowExtents(ArrayRef<Value> known);
  Value beginPart(Value rows);
  std::pair<Value, Value> beginRows(ValueRange ivs, const TileSizes &sizes, Value rows);
  Value matrix(Value memory);
  bool isRepeated(Value memory);
  SmallVector<Value> outerIndices(Value memory);

  // Tiles of values.
  TileElement emitElement(Operation *op, TileColumns c, TileLeaves &leaves);

  // The kernel.
  void forgetBlock();
  SmallVector<Strip> findStrips(int64_t columns);
  void addArgmaxTemporaries(const Strip &strip);
  void emitGreatest(const Strip &strip, Value number, Value base);
  void emitArgmax();
  void emitBlock(const Strip &strip, Value number, Value begin, Value end, bool loops);
  void emitTile(const Strip &strip, Value number);
  void store(const Sink &sink, TileColumns c, const Strip &strip, Value head);
  void storeInCache(const Sink &sink, Value memory, Value value, Value head, int64_t column);
  void storeIntegers(const Sink &sink, const Strip &strip, Value base, int64_t first, Value head);

  GroupOp group;
  const TileForm &form;
  ArgmaxOp argmax; ///< the form's
  SmallVector<int64_t> block;
  /// How many row axes are indices of the grid; the others are joined.
  unsigned outer = 0;
  bool flat = false; ///< all elements are one row

  // Of the block that is being emitted.
  SmallVector<Value> at; ///< the grid's indices for the outer row axes
  Value row;             ///< the tile's first row
  Value part, partEnd;   ///< the number of the part that its rows are in, and where that ends
  Operation *rowLoop = nullptr;
  std::map<Key, Value> tiles, blockValues;
  llvm::DenseMap<Value, Value> matrices;
  std::map<Operation *, Value> statistics;
  std::map<void *, Value> wholeRows; ///< inputs of products

  std::map<Operation *, SmallVector<unsigned>> temporaries;
  /// Each block's greatest elements and their columns; and which output the argmax is.
  unsigned greatest = 0, columnsOfGreatest = 0, argmaxOutput = 0;
};

/// 1 / sqrt(mean of squares + eps) of an RMS norm for each of a tile's whole rows.
Value emitRowFactor(TileBuilder &b, Operation *norm, Value rows);

/// Of rows of f32, tiles of some of their columns each, the scale of each row and these tiles as
/// integers of eight bits, less `zeroPoint`, or as floats that hold them.
struct QuantizedTiles {
  Value scale, inverse; ///< the inverse of what a norm does not change
  SmallVector<Value> integers;
};
QuantizedTiles quantizeTiles(TileBuilder &b, ValueRange parts, Value factor, Type operand,
                             int64_t zeroPoint);

/// Of whole rows of f32, behind an RMS norm or none (null), the scale of each, and the integers as
/// what is multiplied: i8 with a zero point of 128, or floats. The norm changes the scales alone.
QuantizedTiles quantizeRows(TileBuilder &b, Operation *norm, Value rows, Type operand);
/// The sums of these integers in each `group` columns of the rows of `memory`, to a temporary.
void sumGroups(TileBuilder &b, Value memory, Value inverse, int64_t group, unsigned temporary);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_KERNELS_TILEBUILDER_H
