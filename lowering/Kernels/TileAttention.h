// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The builder of attention as a tile program: what its two sources share. TileAttention.cpp has the
// kernel and its blocks of work, TileAttentionKeys.cpp a block's walk over keys.
#ifndef FOVEA_LOWERING_KERNELS_TILEATTENTION_H
#define FOVEA_LOWERING_KERNELS_TILEATTENTION_H

#include "dialects/Tile/TileDialect.h"
#include "lowering/Kernels/KernelBuilder.h"
#include <limits>
#include <optional>

namespace mlir::fovea {

/// Emits the kernel of one attention; used once.
class TileAttention {
public:
  TileAttention(KernelBuilder &k, AttentionOp op, AttentionScheduleAttr schedule);
  void emit();

private:
  /// How a step treats its keys.
  enum class Keys {
    All,     ///< every key is allowed for every query
    Allowed, ///< the mask and the end of the sequence are asked
    Raw,     ///< the mask is left out, the end of the sequence is asked
    Equal,   ///< as Raw, with one score for all keys
  };

  /// What is carried from step to step, by row: the greatest score so far, the sum of the weights
  /// relative to it and the sum of weighted values. With a probability region the first walk over
  /// the keys has no values, and the second nothing else.
  struct State {
    Value maximum, sum, values;
    SmallVector<Value> asRange() const {
      SmallVector<Value> range{maximum, sum, values};
      llvm::erase(range, Value());
      return range;
    }
    /// The same parts as `like` has.
    static State of(ValueRange range, const State &like) {
      State state;
      if (like.maximum)
        state = {range[0], range[1], Value()};
      if (like.values)
        state.values = range.back();
      return state;
    }
  };

  /// Keys [begin, end) that the mask covers and the part [fullBegin, fullEnd) of whole steps in
  /// which it is full, which may be empty. The first step begins at `headBegin`.
  struct Cover {
    Value begin, end, headBegin, fullBegin, fullEnd;
    bool mayBeFull = false;
  };

  /// Keys or values of one batch row and head.
  struct Sequence {
    Value memory, length; ///< the length of a cache
    Value scales;         ///< of integers
  };

  /// Temporaries that hold the states of parts: `[batch, part, heads, queries]` the first two,
  /// `[batch, part, queries, heads, size]` the values. Without parts, where keys are not split,
  /// they are empty.
  struct Parts {
    unsigned maximum, sum, values;
  };

  // The kernel.
  void bind();
  void addParts();
  void cloneReads();
  void emitGrid(ArrayRef<Value> last, function_ref<void(ValueRange)> body);
  Value tilesOfRows();

  // One block of work.
  void locate(ValueRange at);
  void findPart(Value number, Value count);
  void prepare();
  Value loadQueries();
  void findPositions();
  Value lowest();
  State nothingSeen();
  State initialState();
  Value noValues();
  State walkKeys(State state);
  State stream(Value begin, Value end, State state, Keys keys, const Cover *cover);
  State step(Value begin, State state, Keys keys, const Cover *cover);
  State join(State l, State r);
  State mergeParts();
  bool fillsByKeys();
  Keys keysOfFill();
  State fillEmptyRows(State state);
  Value findEmptyRows(State state);
  Value isAny(Value rows);
  Value chooseRows(Value flags, Value tile, Value filling);
  Value getEmptyResult();
  void storeLse(State state);
  void finish(State state);
  void finishByProbabilities(State sums);
  State findRaw(Value isEmpty, Value any, State state);
  Value inverseSums(State state);
  void storeWeights(State state);
  SmallVector<Cover> findCovers();

  /// Where an element of a tile of scores stands.
  struct Place {
    MaskPoint point;
    Value allowed;                         ///< null: surely
    llvm::DenseMap<Value, Value> elements; ///< of the regions' operands that are loaded as tiles
  };

  // One tile of scores.
  Value mapPlaces(Value begin, ValueRange tiles, Keys keys, const Cover *cover,
                  const ElementRegion &of, function_ref<Value(ValueRange, const Place &)> body);
  Value loadNumbers(Value view, Value begin, int64_t size, int64_t lanes);
  Value loadScales(const Sequence &sequence, Value begin);
  Value scaleColumns(Value tile, const Sequence &sequence, Value begin);
  Value products(Value begin, Keys keys);
  Value additiveProducts(Value begin);
  Value scores(Value begin, Value product, Keys keys, const Cover *cover);
  Value scoresAgain(Value begin, Value product, Keys keys, const Cover *cover);
  Value probabilities(Value begin, Value product, Keys keys, const Cover *cover);
  Value loadOperand(const ElementRegion &of, unsigned operand, Value begin);
  Value apply(const ElementRegion &of, Value x, const Place &place);

  // Tiles.
  tile::TileType type(int64_t rows, int64_t columns, Type element = {});
  Value map(Type element, ValueRange inputs, function_ref<Value(ValueRange)> body);
  Value broadcast(Value tile, int64_t columns);
  Value castTo(Value tile, tile::TileType type);
  Value view(Value memory, ValueRange at, ArrayRef<int64_t> axes, Value length = {});
  Value view(const Sequence &sequence);
  Value viewOfRows(Value memory, Value part = {});
  void storeRows(Value tile, Value memory, Value part = {});
  Value loadRows(Value memory, int64_t size, Value part = {});
  Value viewOfColumn(Value memory, Value part = {});
  void storeColumn(Value tile, Value memory, Value part = {});
  Value loadColumn(Value memory, Value part);
  Value higher(Value l, Value r);
  Value weigh(Value score, Value maximum);
  Value weighScore(Value score, Value maximum);
  Value exp2(Value x);
  Value alignDown(Value key);
  Value alignUp(Value key);

  static constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
  static constexpr double kLog2E = 1.44269504088896340736;

  KernelBuilder &k;
  AttentionOp op;
  AttentionScheduleAttr schedule;
  FloatType wide;     ///< of scores, weights and sums
  bool byHead;        ///< rows are the heads of one key head, not queries of one head
  bool hasQueries;    ///< `byHead`, and there may be several queries: each has blocks of its own
  int64_t rows, keys; ///< of a tile of scores
  int64_t group;      ///< query heads that share a key head
  bool baseTwo;       ///< scores carry log2(e) from the start, so that exp is exp2
  double factor;      ///< of the products: the scale and, with `baseTwo`, log2(e)
  bool scalesWeights; ///< the walk's scores are without the factor until they are weighed
  bool readsByIndex;  ///< a region reads tensors at places that it computes
  Sequence key, value;
  Value mask, queryLength, keyLength, zero;
  Value output, lse, weights;
  std::optional<Parts> parts;

  // Of the block.
  Value b, h, g, firstRow, endRow;
  Value q;                        ///< the query, where rows are heads
  Value part;                     ///< its number
  Value firstKey, lastKey;        ///< the block's keys; the first is the first of a step
  Value rowIndex;                 ///< tile of the rows' numbers, those past the end clamped
  Value position, positions;      ///< one for all rows, or a tile
  Value positionMin, positionMax; ///< `index`
  Value queries, keyView, valueView;
  std::optional<State> sums; ///< of all keys, where the walk is one by finished probabilities
};

/// An attention as a tile program.
LogicalResult buildTileAttention(KernelBuilder &k, AttentionOp op, AttentionScheduleAttr schedule);
} // namespace mlir::fovea

#endif // FOVEA_LOWERING_KERNELS_TILEATTENTION_H
