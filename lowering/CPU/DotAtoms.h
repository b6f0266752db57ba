// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one register block of a `tile.dot` is computed.
#ifndef FOVEA_LOWERING_CPU_DOTATOMS_H
#define FOVEA_LOWERING_CPU_DOTATOMS_H

#include "lowering/CPU/FewBits.h"
#include "lowering/CPU/ProductInstructions.h"
#include "lowering/Targets/Table.h"
#include "lowering/Tile/Emitter.h"

namespace mlir::fovea {

/// The operand of which one element at a time meets a whole vector: element (r, k) of the block is
/// at `rows[r] + k * stride`.
struct BroadcastOperand {
  Value memory; ///< rank 1
  SmallVector<Value> rows;
  Value stride; ///< between neighbours in k
  Type type;
};

/// What integers are multiplied by, or what is added: the factors of vector v at step k are at
/// `vectors[v] + (k / group) * stride`. They may be integers in turn.
struct LaneScales {
  Value memory; ///< rank 1
  SmallVector<Value> vectors;
  Value stride;
  int64_t group = 0; ///< 0: there are none
  Type type;
  Value jump; ///< as of the lanes' operand
  /// Of each vector, loaded before as f32 for all steps that are emitted; empty: they are not.
  SmallVector<Value> loaded = {};
};

/// The operand that lies in lanes: vector v of step k is at `vectors[v] + (k / interleave) *
/// stride`, `interleave` neighbours in k beside each other in each lane; of integers they are 32
/// bits, or a byte, or a unit of several words. Of less than a byte places are those of bytes.
struct LaneOperand {
  Value memory; ///< rank 1
  SmallVector<Value> vectors;
  Value stride;
  int64_t interleave = 1;
  int64_t alignment = 0; ///< of every vector, in bytes; 0: that of an element
  bool streams = false;  ///< comes from far away: worth fetching ahead
  bool inOrder = false;  ///< the same, but is read as it lies: the processor fetches it by itself
  /// Like one of `vectors`, of what will be multiplied after this block: fetched meanwhile. May be
  /// absent.
  Value next;
  /// From the end of a vector's depth to where it begins in the block after this one. May be
  /// absent.
  Value jump;
  Type type;
  LaneScales scales;
  /// What these are multiplied by, where they are integers.
  LaneScales blockScales;
  /// Added to each number, likewise; a number is an integer and `bias` times its scale before.
  LaneScales offsets, blockOffsets;
  int64_t bias = 0;
  int64_t bits = 8;            ///< that integers have at most
  ArrayRef<int8_t> table = {}; ///< of which they are numbers of entries; empty: of none
  /// Sums of i32 that the products of a group, or of the whole depth, begin with, so that the zero
  /// point of the other operand adds nothing. Its memory may be absent.
  LaneScales zero;

  bool isOfIntegers() const { return isa<IntegerType>(type); }
  /// Of integers.
  FewBits form() const { return {{type.getIntOrFloatBitWidth()}, table}; }
  /// Whether neighbours are a unit of words, which follow each other in equal parts of the stride.
  bool isOfUnits() const { return isOfIntegers() && interleave == form().packed.unit(); }
  int64_t words() const { return isOfUnits() ? form().packed.words() : 1; }
};

/// `acc[r][v] += sum over k in [0, depth) of broadcast[r, k] * lane[v, k]`.
struct DotBlock {
  BroadcastOperand broadcast;
  LaneOperand lane;
  /// The sums of the first operand's numbers in each group of the second's, f32, with groups for k.
  /// Its memory may be absent.
  BroadcastOperand groupSums;
  Value depth;
  Type sum;
  int64_t lanes; ///< of a vector of sums
  int64_t rows() const { return broadcast.rows.size(); }
  int64_t vectors() const { return lane.vectors.size(); }
};

/// One way to compute a block.
class DotAtom {
public:
  virtual ~DotAtom();
  /// Whether it computes products of these elements.
  virtual bool supports(const DotBlock &block) const = 0;
  /// Whether it multiplies and adds two neighbours in k of bf16 by one instruction.
  virtual bool multipliesPairs() const { return false; }
  /// The same of four neighbours of bytes.
  virtual bool multipliesBytes() const { return false; }
  /// Whether it widens what it broadcasts, element by element: better done once, before.
  virtual bool widens() const { return false; }
  /// The block's sums, row by row, begun with `acc`.
  virtual SmallVector<Value> emit(Emitter &b, const DotBlock &block,
                                  SmallVector<Value> acc) const = 0;
};

/// How far ahead of its use a stream is fetched, in steps of its stride: of one row, which is read
/// as fast as memory gives it, as many bytes of few streams as of many.
inline int64_t getStepsAhead(const DotBlock &block) {
  constexpr int64_t kLeast = 16, kOfAllStreams = 256;
  int64_t vectors = block.rows() == 1 ? std::max(kLeast, kOfAllStreams / block.vectors()) : kLeast;
  return llvm::divideCeil(vectors, block.lane.words());
}

/// Into which cache a stream is fetched: of one row, which is read as fast as memory gives it, the
/// one behind the nearest, since a line on its way to the nearest takes one of its few miss buffers
/// for as long as memory takes.
inline unsigned getFetchLocality(const DotBlock &block) { return block.rows() == 1 ? 2 : 3; }

/// How far behind vector `step` of `steps` that one lies which is fetched meanwhile: `ahead` of
/// them, and near the end with what `jump`, if there is one, goes beyond it, at most into the block
/// after this one.
Value getFetchDistance(Emitter &b, Value stride, Value jump, Value step, Value steps,
                       int64_t ahead);

/// Where word `word` lies of the unit that begins at `unit`.
Value getPlaceOfWord(Emitter &b, const LaneOperand &lane, Value unit, int64_t word);

/// The scales of step k for each vector of a block, and the offsets, in which the bias is included.
struct LaneFactors {
  LaneFactors() = default;
  LaneFactors(Emitter &b, const DotBlock &block, Value k);
  /// Loads those of the next vector, `v`.
  void add(Emitter &b, const DotBlock &block, int64_t v, Value k);
  SmallVector<Value> scales, offsets; ///< empty: there are none
};

/// Loads those of step k, for all steps of a group, if there are any.
void loadFactors(Emitter &b, const DotBlock &block, LaneScales &factors, Value k);

/// Of vectors of i32 that hold integers of so many bits, number i from the lowest bits on.
Value extractIntegers(Emitter &b, Value words, int64_t i, int64_t bits);

/// Memory may hold narrow floats as integers of their width.
Value asFloat(Emitter &b, Value loaded, Type element);

/// Loaded factors of this type, floats or i8, as f32.
Value toFactors(Emitter &b, Value loaded, Type element);

/// By how many bits integers of so many are shifted up as they are multiplied; where products are
/// added in 16 bits they are not.
int64_t getShift(Emitter &b, const FewBits &form, int64_t bits);

/// The factor, or 1, times a power of two; exact.
Value byPowerOfTwo(Emitter &b, Value factor, int64_t exponent, int64_t lanes);

/// What is added to integers times their scale: the offset, and the scale times the bias.
Value addBias(Emitter &b, Value scale, Value offset, int64_t bias);

/// `begin + place + constant`: what is constant, in `begin` too, is added last, where an
/// instruction adds it for nothing. Of vectors of one panel all else is the same.
Value addLast(Emitter &b, Value begin, Value place, Value constant);

/// Fetches the streams of a block while the vectors of one step are read.
class StreamFetch {
public:
  /// A step of the depth from `k` on, which lies `place` behind where vectors begin.
  StreamFetch(Emitter &b, const DotBlock &block, Value k, Value place);
  /// Beside vector v at `at`, `constant` behind where the step begins.
  void fetch(int64_t v, Value at, Value constant) const;

private:
  Emitter &b;
  const DotBlock &block;
  Value place; ///< of what is fetched; null: as far ahead everywhere, so that `at` says where
};

/// Bits as pairs of bf16.
Value asPairs(Emitter &b, Value bits);
/// The pair of bf16 at a place, or the one there beside nothing, in all of so many lanes.
Value broadcastPair(Emitter &b, Value memory, Value at, bool isPair, int64_t lanes);
Value splatByte(Emitter &b, uint8_t value, int64_t count);
/// Signed bytes as unsigned ones that are greater by the zero point of a byte, or back.
Value shiftByZeroPoint(Emitter &b, Value bytes);

/// Words of four bytes of a row, loaded together, for instructions that take an element of a
/// vector.
class ByteElements {
public:
  static constexpr int64_t kWords = 4;
  ByteElements() = default;
  /// So many pieces of the lanes' integers from `at` on, at most `kWords`. Without their zero
  /// point, if they are to be signed.
  ByteElements(Emitter &b, Value memory, Value at, const FewBits &lanes, int64_t pieces,
               bool isSigned);
  /// Those of piece i in all lanes: a word, or that of even k and that of odd k.
  SmallVector<Value> get(Emitter &b, int64_t i) const;

private:
  SmallVector<Value> vectors;
};

/// Products of unsigned bytes by integers of at most eight bits, sums of f32.
const DotAtom &getByteAtom();

/// Products of pairs of bf16, sums of f32.
const DotAtom &getPairAtom();

/// The atoms of a processor's level, best first.
ArrayRef<const DotAtom *> getDotAtoms(const Level &level);
/// Of one with NEON.
ArrayRef<const DotAtom *> getNeonAtoms(const Level &level);

/// Multiply-and-add of a broadcast element and a vector, any target, f32 and f64 sums, narrower
/// elements widened.
const DotAtom &getBroadcastAtom();

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_CPU_DOTATOMS_H
