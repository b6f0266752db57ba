// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of tiles by level of instructions: numbers only, apart from the code that chooses by them.
#ifndef FOVEA_LOWERING_TARGETS_TABLE_H
#define FOVEA_LOWERING_TARGETS_TABLE_H

#include "lowering/Targets/ProcessorFamily.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::fovea {

/// Sizes of `#fovea.contraction`.
struct ContractionSizes {
  int64_t tile[2], chunk, block[2];
  bool rowsOutermost = false;
};

/// Of products of 16 bits by a weight of the same type: of one, and of two that a gate joins.
struct HalvesSizes {
  ContractionSizes product, gate;
  bool f16; ///< or of bf16 alone
};

/// Sizes of `#fovea.attention_tiles`.
struct AttentionSizes {
  int64_t queries, keys, scores[2], values[2];
};

/// `#fovea.panels` of weights: outputs of a panel, and inputs beside each other by type; bytes of
/// them for i8 and i4.
struct PanelSizes {
  int64_t outputs, f32, f16, bf16, int8;
};

/// A multiple of each level's outputs of a panel: what is laid out in panels for one level can be
/// for all.
inline constexpr int64_t kEveryPanel = 32;

/// One level of instructions, and what is best on it.
struct Level {
  llvm::StringLiteral name;
  /// LLVM's name of a processor that any has whose features are these: what code for the level as
  /// such is made for. Empty for a GPU.
  llvm::StringLiteral processor;
  /// f32 in a vector register, and registers; of a GPU threads in a warp, and registers of each.
  int64_t lanes, registers;
  /// By LLVM's names: all that a processor must have.
  llvm::ArrayRef<llvm::StringLiteral> features;
  ContractionSizes manyRows;
  /// Rows of a register block where weights are pairs, which take registers to unpack.
  int64_t pairRows;
  /// A row at a time; the narrow one for less than `wide` outputs, so that there is a piece for
  /// each thread.
  ContractionSizes oneRow, oneRowNarrow;
  int64_t wide;
  AttentionSizes manyQueries;
  /// For up to so many queries; none if zero.
  int64_t few;
  AttentionSizes fewQueries, oneQuery;
  /// Of few queries, no more than a tile has: keys that a part has at least, and blocks of work
  /// that are enough for all threads of any processor.
  int64_t split[2];
  int64_t rows, elements;
  /// How packed weights lie. All processors have one layout, in which an artifact stores them; for
  /// a GPU they are laid out anew when they are uploaded.
  PanelSizes panels;
  /// Whether there are instructions for matrices of f16 and of bf16; for pairs of bf16; and for
  /// four neighbours of bytes, unsigned by signed.
  bool multipliesHalves = false, multipliesPairs = false, multipliesBytes = false;
  /// Rows of a register block of bytes; and where weights have scales by groups: sums of integers
  /// and of floats.
  int64_t byteRows = 8, groupRows = 4;
  /// The most outputs of a register block of one row of bytes.
  int64_t oneRowBytes = 128;
  /// The most that the queries, weighted values and scores of a tile of attention take, or its keys
  /// and values, in words of four bytes: what caches beyond the nearest hold, or shared memory.
  int64_t attentionWords = 68 << 10;
  /// Of attention that multiplies halves by warpgroups, for heads of up to `size`: queries of a
  /// tile at most, and where it reads biases or masks of each place.
  struct HeadQueries {
    int64_t size, queries, reading;
  };
  llvm::ArrayRef<HeadQueries> headQueries = {};
  /// Many rows of halves by a weight of the same type; null: as of others.
  const HalvesSizes *manyHalves = nullptr;
  /// Many rows of bytes by a weight with a scale for each output; null: as of others.
  const ContractionSizes *manyBytes = nullptr;
  /// Of a weight of no more bytes each core has a copy in its own cache: blocks of rows are
  /// outermost, so that a thread goes on with the rows that it made.
  int64_t resident = 640 << 10;
  /// Up to so many queries of a cache, and rows of weights with floats for groups, are computed one
  /// by one, each to the bits that it has alone: tokens that are checked together are those that
  /// one after the other gives.
  int64_t apart = 8;
  /// Of a GPU it says nothing.
  const ProcessorFamily *family = &kX86;

  /// Whether x86-64 multiplies bytes by VPDPBUSD.
  bool hasVnni() const;
};

/// Half of `rows` again and again, until those of so many columns have at most `most` elements
/// together.
int64_t fitRows(int64_t rows, int64_t columns, int64_t most);

/// All levels of processors, those of a family together, the best first; the last has no needs.
llvm::ArrayRef<Level> getLevels();

/// Levels of GPUs, by the names of their architectures.
llvm::ArrayRef<Level> getDeviceLevels();

/// A level of either kind; null for a name that none has.
const Level *findLevel(llvm::StringRef name);
/// A level of processors; null for a name that none has.
const Level *findProcessorLevel(llvm::StringRef name);

/// The names of processors' levels, the best first, for messages: "a, b, c".
std::string listProcessorLevels();

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_TARGETS_TABLE_H
