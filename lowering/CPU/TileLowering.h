// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel on its way from tiles to vectors. A tile that more than one op reads, or that a
// product reads, has a buffer of its own, small enough for the nearest cache; what one op alone
// reads is computed where it is read. Products run over register blocks, which `DotAtoms` or
// a unit of matrices (`MatrixAtoms`) compute.
// Edges of memory: rows are clamped or left out, lanes are masked.
#ifndef FOVEA_LOWERING_CPU_TILELOWERING_H
#define FOVEA_LOWERING_CPU_TILELOWERING_H

#include "dialects/Fovea/FoveaDialect.h"
#include "lowering/CPU/DotAtoms.h"
#include "lowering/CPU/MatrixAtoms.h"
#include "lowering/CPU/VectorRegion.h"
#include "lowering/Tile/TileMemory.h"
#include <memory>

namespace mlir::fovea {

/// A tile in its buffer.
struct Scratch {
  Value memory; ///< rank 1, aligned to 64 bytes
  TileLayout layout;
};

/// Which operand of a product lies in lanes, and along which of its axes; the other's elements are
/// broadcast.
struct DotOperands {
  DotOperands(tile::DotOp dot, const TileLayout &result) {
    bool swapped = result.axis == 0;
    int64_t bAxis = dot.getTransposeB() ? 0 : 1;
    lanes = swapped ? dot.getA() : dot.getB();
    other = swapped ? dot.getB() : dot.getA();
    lanesAxis = swapped ? 0 : bAxis;
    otherAxis = swapped ? bAxis : 0;
  }
  Value lanes, other;
  int64_t lanesAxis, otherAxis;
};

/// Pairs of bf16 that neighbours in k are, in panels of one vector of outputs: each of `size`
/// elements.
struct UnpackedPanels {
  Value memory;
  int64_t size;
};

/// Weights for products of bytes by many rows, in panels of one vector of outputs.
struct PreparedBytes {
  Value memory;  ///< bytes that those of less became; null: they lie in memory as bytes
  Value scales;  ///< of f32 by group; null for bytes without groups
  Value offsets; ///< likewise, the bias included; null where there are none
  Value zero;    ///< what sums of a group begin with
  int64_t size;  ///< bytes of a panel
  int64_t groups;
};

/// Inputs that share a scale, or all, of one vector of outputs in a panel.
struct PanelGroup {
  const ViewMemory &view;
  Value panel;    ///< one vector of the tile's outputs
  Value start;    ///< of that vector in memory, in elements
  Value first;    ///< k
  int64_t length; ///< in k
  Value scales;   ///< a vector of f32; may be null
  Value offsets;  ///< likewise, the bias included
};

/// Rows of a product for which unpacking integers to pairs, or packing pairs, is worth while; and
/// the most bytes of them, a part of a thread's stack.
constexpr int64_t kLeastRowsOfPairs = 8, kMostBytesOfPairs = 5 << 18;

/// The most rows of a register block.
constexpr int64_t kMaxBlockRows = 16;

class TileLowering {
public:
  TileLowering(func::FuncOp function, int64_t lanes, ArrayRef<const DotAtom *> atoms,
               const MatrixAtom *matrixAtom = nullptr,
               const ProductInstructions *products = nullptr)
      : function(function),
        b(function.getLoc(), OpBuilder::atBlockBegin(&function.getBody().front())), lanes(lanes),
        atoms(atoms), matrixAtom(matrixAtom) {
    b.products = products;
  }
  LogicalResult run();

private:
  static tile::TileType typeOf(Value tile) { return cast<tile::TileType>(tile.getType()); }
  TileLayout layoutOf(Value tile) const { return TileLayout(typeOf(tile), lanes); }

  void lowerKernel(tile::KernelOp kernel);
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerLoop(scf::ForOp loop);
  LogicalResult lowerBranch(scf::IfOp branch);
  LogicalResult lowerDot(tile::DotOp dot);
  class Product;
  class DotLowering;
  class LaneSums;
  class RowPairs;
  /// Of few rows: by sums across lanes, in place of turning the operand in memory; by pairs of rows
  /// in memory, made as they are read. False, and nothing done, where the product is not of the
  /// kind.
  bool lowerLaneSums(tile::DotOp dot);
  bool lowerRowPairs(tile::DotOp dot);
  /// The unit's state, prepared where the function begins and left where it ends.
  Value prepareMatrices();
  LogicalResult lowerDequantize(tile::DequantizeOp op);
  Value widen(Value tile, Type element);
  /// Whether a product reads this load's panels as they lie, whole vectors of outputs at each k.
  bool readsPanels(tile::LoadOp load);
  /// The same of integers with their scales and offsets, in panels of the same width.
  bool readsPanels(tile::DequantizeOp op);
  /// Whether depth and groups are whole units, all of which its products multiply.
  bool multipliesWholeUnits(tile::DequantizeOp op, int64_t unit);
  bool readsFactors(tile::DequantizeOp op, Value factors);
  /// A vector of f32 of scales or offsets: of outputs from `within` of panel `from` on, at column k
  /// of `depth`.
  Value loadFactors(Value factors, Value from, Value within, Value k, int64_t depth);
  /// The number that an element is, f32.
  Value dequantizeElement(tile::DequantizeOp op, Value row, Value column);
  bool unpackPanels(tile::DequantizeOp op);
  bool multipliesPairs() const {
    return llvm::any_of(atoms, [](const DotAtom *atom) { return atom->multipliesPairs(); });
  }
  UnpackedPanels allocatePanels(int64_t panels, int64_t size);
  Value unpackPair(const UnitIntegers &unit, int64_t i, const PanelGroup &group);
  /// Whether integers are in panels that it reads, and depth and groups are whole units of them.
  bool hasWholeUnits(tile::DequantizeOp op);
  /// Whether all that reads it multiplies it by many rows of this type.
  bool meetsManyRows(tile::DequantizeOp op, Type rows);
  void forEachGroup(tile::DequantizeOp op, function_ref<void(const PanelGroup &)> body);
  static FewBits getForm(tile::DequantizeOp op);
  /// Bytes of a word for each output, of the unit that is at `within` of the group's k.
  Value loadWord(const PanelGroup &group, Value within, int64_t word);
  bool prepareBytes(tile::DequantizeOp op);
  bool readsIntegers(tile::DequantizeOp op, int64_t axis);
  /// Whether it is one turn of a loop over rows, of which the next turn has those behind.
  bool walksRows(tile::LoadOp load);
  /// Fetches what lies so many rows behind `place`, which the loop over rows will load: of rows
  /// that are read as they lie, few, since more lines than have buffers would wait for each other.
  void prefetchRows(tile::LoadOp load, Value place, int64_t ahead = 16);
  bool liesInWords(tile::LoadOp load);
  Value turnWords(tile::LoadOp load, int64_t pitch);
  Value prepareWords(ArrayRef<Value> words, int64_t bits, Value memory, Value to, Value sum);
  /// A tile of bf16 with lanes along `axis`, made once; nothing if it is too large.
  std::optional<UnpackedPanels> packPairs(Value tile, int64_t axis);
  void turnPairs(tile::LoadOp load, int64_t axis, const UnpackedPanels &panels);
  void storePairs(const UnpackedPanels &panels, Value inner, Value k, Value words);
  LogicalResult lowerStore(tile::StoreOp store);
  void lowerReduce(tile::ReduceOp reduce);
  void lowerGather(tile::GatherOp gather);
  void lowerCast(tile::CastOp cast);
  void eraseTiles();

  //===-- Buffers -------------------------------------------------------------------------===//

  Value allocate(Type element, const TileLayout &layout);
  /// What a buffer holds instead: a byte for a bit, and 16 bits for a float of 16, since LLVM's
  /// code generator cannot blend vectors of such floats on all targets.
  Type storageType(Type element);
  /// An element, or a vector of them, as its buffer holds it, and back.
  Value toStorage(Value value);
  Value fromStorage(Value stored, Type element);
  /// Whether the tile is computed where it is read.
  bool isLazy(Value tile);
  /// The tile's own buffer; of a load, made if need be. Lanes along `axis`.
  Scratch materialize(Value tile);
  Scratch materialize(Value tile, int64_t axis);
  Scratch loadToScratch(tile::LoadOp load, int64_t axis);
  /// A buffer of this layout whose tile nobody reads after `user`, found among `user`'s operands.
  std::optional<Scratch> findDonor(Value tile, Operation *user, tile::TileType type);
  Scratch resultScratch(Value result, std::optional<Scratch> donor);
  void copy(Value from, const Scratch &to);
  /// Rows of a loop's or a branch's result that `yielded`, in `scratch`, does not have, where how
  /// many these are is known inside only: zeros.
  void fillRest(Value result, Value yielded, const Scratch &scratch);
  /// Zeros in the rows from `first` on.
  void clear(const Scratch &scratch, Type element, Value first);
  /// Zeros in all rows, where elements are written one by one and only `end` of a row: all lanes
  /// are computed with.
  void clearUnlessWhole(const Scratch &scratch, Type element, Value end);
  /// `body(whether rows are whole)`, in both forms if `limit`, how much of a row is inside, is only
  /// known at run time.
  void forWholeOrPart(Value limit, const TileLayout &layout, function_ref<void(bool)> body);

  //===-- Elements ------------------------------------------------------------------------===//

  const ViewMemory &viewOf(Value view);
  static Value offsetOf(tile::LoadOp load, int64_t axis) {
    return axis == 0 ? load.getRow() : load.getColumn();
  }
  /// A load whose lanes along `axis` are surely inside of the view, beside each other in memory.
  bool isDirect(tile::LoadOp load, int64_t axis);
  /// How many places along `axis` are inside of all that the tile was loaded from or computed of;
  /// null: all. Of a buffer's rows only these are written and read. Of each, all lanes are: those
  /// past the end are copies, or zero.
  Value validAlong(Value tile, int64_t axis);
  Value endAlong(Value tile, int64_t axis);
  /// A vector of elements: lanes along `axis` from `inner` on, at `outer` along the other.
  LaneValue read(Value tile, int64_t axis, Value outer, Value inner);
  Value readVector(Value tile, int64_t axis, Value outer, Value inner);
  Value readScratch(const Scratch &scratch, Type element, Value at, int64_t count);
  void write(const Scratch &scratch, Value outer, Value inner, Value vector);
  /// `body(outer, inner)` for each vector of the tile, at most `written` at a time written out: few
  /// where the body computes functions, whose constants and steps fill registers.
  void forEachVector(const TileLayout &layout, Value outerEnd,
                     function_ref<void(Value, Value)> body, int64_t written = 4);

  func::FuncOp function;
  Emitter b;
  int64_t lanes;
  ArrayRef<const DotAtom *> atoms;
  const MatrixAtom *matrixAtom; ///< may be null
  Value matrixState;
  llvm::DenseMap<Value, UnpackedPanels> unpacked;                  ///< integers
  llvm::DenseMap<Value, PreparedBytes> prepared;                   ///< integers
  llvm::DenseMap<std::pair<Value, int64_t>, UnpackedPanels> pairs; ///< by the axis in lanes
  /// By tile; loads may also lie along their other axis.
  llvm::DenseMap<std::pair<Value, int64_t>, Scratch> buffers;
  llvm::DenseMap<Value, Value> wide;                        ///< of halves, casts
  llvm::DenseMap<Value, std::unique_ptr<ViewMemory>> views; ///< which stay where they are
  llvm::DenseMap<std::pair<Value, int64_t>, Value> valid;
  /// What is computed of loads whose limits are known inside of a loop or branch only.
  llvm::DenseSet<std::pair<Value, int64_t>> filled;
  SmallVector<Operation *> tileOps;
};

/// One product, as all its lowerings know it.
class TileLowering::Product {
protected:
  Product(TileLowering &t, tile::DotOp dot)
      : t(t), b(t.b), lanes(t.lanes), dot(dot), type(dot.getResult().getType()),
        layout(t.layoutOf(dot.getResult())), operands(dot, layout) {}

  /// Whether both operands are bf16, of which one instruction of the target adds two products.
  bool addsPairs() const;
  /// The rows of f32, with their columns in lanes, if it is known how many there are and they are
  /// few: then work for each of them, which may be to convert what lies in memory, costs less than
  /// preparing that for all. Else 0.
  int64_t countFewRows(bool converts = false);
  static int64_t getMostFewRows(bool converts) { return converts ? 4 : 16; }
  /// Of `count` rows at most `most` at a time: the first, how many, and whether they are the first
  /// that read the other operand, and so fetch it.
  void forSomeRows(int64_t count, int64_t most, function_ref<void(Value, int64_t, bool)> body);
  /// A vector of the result, to which what it begins with is added.
  void writeSum(const Scratch &result, Value row, Value inner, Value sum);

  TileLowering &t;
  Emitter &b;
  int64_t lanes;
  tile::DotOp dot;
  tile::TileType type;
  TileLayout layout;
  DotOperands operands;
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_CPU_TILELOWERING_H
