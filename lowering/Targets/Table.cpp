// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers. A block of a product takes block rows x (block columns / lanes) registers for sums,
// (block columns / lanes) for the weight and one for a row's element: 8 x 3 + 3 + 1 of 32 on
// avx512, 6 x 2 + 2 + 1 of 16 on avx2, 2 x 4 + 4 + 1 of 16 on sse; 4 x 4 + 4 + 4 of 32 on aarch64,
// where four elements of a row are one register.
#include "lowering/Targets/Table.h"
#include "dialects/Panels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::fovea;
using llvm::StringLiteral;

static constexpr StringLiteral kAvx512[] = {"avx512f", "avx512bw", "avx512dq", "avx512vl"};
/// And products of bytes by fours: Cascade Lake, Ice Lake and their successors.
static constexpr StringLiteral kAvx512vnni[] = {"avx512f", "avx512bw", "avx512dq", "avx512vl",
                                                "avx512vnni"};
/// And of pairs of bf16: Cooper Lake, Sapphire Rapids, Zen 4 and their successors.
static constexpr StringLiteral kAvx512bf16[] = {"avx512f",  "avx512bw",   "avx512dq",
                                                "avx512vl", "avx512vnni", "avx512bf16"};
/// And registers for matrices: Sapphire Rapids and its successors.
static constexpr StringLiteral kAmx[] = {"avx512f",  "avx512bw",   "avx512dq",
                                         "avx512vl", "avx512vnni", "avx512bf16",
                                         "amx-tile", "amx-bf16",   "amx-int8"};
static constexpr StringLiteral kAvx2[] = {"avx2", "fma", "f16c"};
/// And products of bytes by fours: Alder Lake and its successors.
static constexpr StringLiteral kAvxvnni[] = {"avx2", "fma", "f16c", "avxvnni"};

/// Panels of the widest vector; instructions multiply pairs of bf16, and bytes by fours.
static constexpr PanelSizes kProcessorPanels = {kStoredPanelWidth, 1, 1, 2, 4};

static constexpr Level kAvx512Level = {/*name=*/"avx512",
                                       /*processor=*/"x86-64-v4",
                                       /*lanes=*/16,
                                       /*registers=*/32,
                                       /*features=*/kAvx512,
                                       /*manyRows=*/{{64, 48}, 256, {8, 48}},
                                       /*pairRows=*/8,
                                       /*oneRow=*/{{1, 128}, 16, {1, 128}},
                                       /*oneRowNarrow=*/{{1, 64}, 16, {1, 64}},
                                       /*wide=*/768,
                                       /*manyQueries=*/{64, 64, {4, 64}, {4, 64}},
                                       /*few=*/48,
                                       /*fewQueries=*/{48, 64, {4, 48}, {4, 48}},
                                       /*oneQuery=*/{16, 64, {4, 64}, {4, 64}},
                                       /*split=*/{512, 64},
                                       /*rows=*/4,
                                       /*elements=*/1024,
                                       /*panels=*/kProcessorPanels};

/// The same vectors.
static constexpr Level makeAvx512vnni() {
  Level level = kAvx512Level;
  level.name = "avx512vnni";
  level.features = kAvx512vnni;
  level.multipliesBytes = true;
  return level;
}

static constexpr Level makeAvx512bf16() {
  Level level = makeAvx512vnni();
  level.name = "avx512bf16";
  level.features = kAvx512bf16;
  level.multipliesPairs = true;
  return level;
}

/// 256 rows of the left operand stay in the second-level cache, panels stream by: 2 x 2 registers
/// of sums need one load for each product.
static constexpr ContractionSizes kAmxTiles = {{256, 32}, 256, {32, 32}, /*rowsOutermost=*/true};
static constexpr HalvesSizes kAmxHalves = {kAmxTiles, /*gate=*/kAmxTiles, /*f16=*/false};

/// The same vectors for all but bf16 and bytes.
static constexpr Level makeAmx() {
  Level level = makeAvx512bf16();
  level.name = "amx";
  level.features = kAmx;
  level.manyHalves = &kAmxHalves;
  level.manyBytes = &kAmxTiles;
  return level;
}

static constexpr Level kAvx2Level = {/*name=*/"avx2",
                                     /*processor=*/"x86-64-v3",
                                     /*lanes=*/8,
                                     /*registers=*/16,
                                     /*features=*/kAvx2,
                                     /*manyRows=*/{{48, 16}, 240, {6, 16}},
                                     /*pairRows=*/4,
                                     /*oneRow=*/{{1, 64}, 16, {1, 64}},
                                     /*oneRowNarrow=*/{{1, 64}, 16, {1, 64}},
                                     /*wide=*/1024,
                                     /*manyQueries=*/{16, 64, {4, 16}, {4, 16}},
                                     /*few=*/0,
                                     /*fewQueries=*/{},
                                     /*oneQuery=*/{16, 64, {4, 16}, {4, 16}},
                                     /*split=*/{512, 64},
                                     /*rows=*/4,
                                     /*elements=*/1024,
                                     /*panels=*/kProcessorPanels};

/// Of two vectors of weights each is two of 16 bits.
static constexpr Level makeAvx2() {
  Level level = kAvx2Level;
  level.multipliesBytes = true;
  level.byteRows = 4;
  level.groupRows = 4;
  level.oneRowBytes = 32;
  return level;
}

/// The same vectors. Of one row of bytes an output has two registers, its sum and that of its
/// weights.
static constexpr Level makeAvxvnni() {
  Level level = makeAvx2();
  level.name = "avxvnni";
  level.features = kAvxvnni;
  level.byteRows = 6;
  level.groupRows = 3;
  return level;
}

/// All processors of the family have it; so has none of another.
static constexpr StringLiteral kNeon[] = {"neon"};
/// And products of signed bytes by fours: Cortex-A76, Neoverse N1 and their successors.
static constexpr StringLiteral kDotprod[] = {"dotprod", "neon"};
/// And of unsigned by signed ones, and of pairs of bf16: Armv8.6; Neoverse V1 and N2, Apple M2.
static constexpr StringLiteral kI8mm[] = {"bf16", "dotprod", "i8mm", "neon"};

/// Vectors are as long as sse's, and there are as many as on avx512: a block is a panel wide.
static constexpr Level makeAarch64() {
  Level level = {/*name=*/"aarch64",
                 /*processor=*/"generic",
                 /*lanes=*/4,
                 /*registers=*/32,
                 /*features=*/kNeon,
                 /*manyRows=*/{{64, 16}, 256, {4, 16}},
                 /*pairRows=*/4,
                 /*oneRow=*/{{1, 64}, 16, {1, 64}},
                 /*oneRowNarrow=*/{{1, 64}, 16, {1, 64}},
                 /*wide=*/1024,
                 /*manyQueries=*/{16, 64, {4, 16}, {4, 16}},
                 /*few=*/0,
                 /*fewQueries=*/{},
                 /*oneQuery=*/{16, 64, {4, 16}, {4, 16}},
                 /*split=*/{512, 64},
                 /*rows=*/4,
                 /*elements=*/1024,
                 /*panels=*/kProcessorPanels};
  level.family = &kAarch64;
  return level;
}

/// Of one row of bytes an output has two registers, as on avxvnni.
static constexpr Level makeDotprod() {
  Level level = makeAarch64();
  level.name = "aarch64-dotprod";
  level.features = kDotprod;
  level.multipliesBytes = true;
  level.byteRows = 4;
  level.groupRows = 3;
  level.oneRowBytes = 32;
  return level;
}

/// Of two rows by two outputs each sum takes as many registers; square blocks have the least to be
/// put in order, a vector for each two products of a row and of an output.
static constexpr Level makeI8mm() {
  Level level = makeDotprod();
  level.name = "aarch64-i8mm";
  level.features = kI8mm;
  level.multipliesPairs = true;
  level.manyRows = {{64, 16}, 256, {8, 8}};
  level.pairRows = 8;
  level.byteRows = 8;
  level.groupRows = 6;
  return level;
}

static constexpr Level kLevels[] = {
    makeI8mm(),
    makeDotprod(),
    makeAarch64(),
    makeAmx(),
    makeAvx512bf16(),
    makeAvx512vnni(),
    kAvx512Level,
    makeAvxvnni(),
    makeAvx2(),
    {/*name=*/"sse", /*processor=*/"x86-64", /*lanes=*/4, /*registers=*/16, /*features=*/{},
     /*manyRows=*/{{32, 16}, 256, {2, 16}}, /*pairRows=*/1,
     /*oneRow=*/{{1, 32}, 16, {1, 32}},
     /*oneRowNarrow=*/{{1, 32}, 16, {1, 32}}, /*wide=*/1024,
     /*manyQueries=*/{16, 64, {2, 16}, {2, 16}}, /*few=*/0, /*fewQueries=*/{},
     /*oneQuery=*/{16, 64, {2, 16}, {2, 16}},
     /*split=*/{512, 64},
     /*rows=*/4, /*elements=*/1024, /*panels=*/kProcessorPanels},
};

// A block of 128 threads has 8 x 4 sums each of a 64 x 64 tile, and the tiles of 64 queries, 64
// keys and a head of 128 in 104 KiB of shared memory. A block of a GPU is one tile: rows are no
// chunks. Of one row a warp has the outputs of a panel, and a block's warps share their inputs; of
// few outputs half a panel, so that a weight of 2048 has a block for nearly every multiprocessor.
// 16 bytes of inputs for each lane of a warp are the most that a thread moves at once.
static constexpr Level kAmpere = {
    /*name=*/"sm_80",
    /*processor=*/"",
    /*lanes=*/32,
    /*registers=*/255,
    /*features=*/{},
    /*manyRows=*/{{64, 64}, 64, {8, 4}},
    /*pairRows=*/8,
    /*oneRow=*/{{1, 32}, 1, {1, 1}},
    /*oneRowNarrow=*/{{1, 16}, 1, {1, 1}},
    /*wide=*/8192,
    /*manyQueries=*/{64, 64, {8, 4}, {8, 4}},
    /*few=*/0,
    /*fewQueries=*/{},
    /*oneQuery=*/{16, 64, {2, 4}, {2, 4}},
    /*split=*/{256, 264},
    /*rows=*/4,
    /*elements=*/1024,
    /*panels=*/{32, 4, 8, 8, 16},
    /*multipliesHalves=*/true,
    /*multipliesPairs=*/false,
    /*multipliesBytes=*/false,
    /*byteRows=*/8,
    /*groupRows=*/8,
    /*oneRowBytes=*/128,
    /*attentionWords=*/36 << 10,
    /*headQueries=*/{},
    /*manyHalves=*/nullptr,
    /*manyBytes=*/nullptr,
    /*resident=*/0,
    /*apart=*/1};

// A warpgroup for each 64 queries; they share keys and values, of which 64 queries alone would need
// 64 bytes a clock on each multiprocessor, more than the second-level cache has. Three warpgroups
// have 168 registers for each thread, two 255: these are the most queries without spills.
static constexpr Level::HeadQueries kHopperQueries[] = {
    {/*size=*/64, /*queries=*/192, /*reading=*/192},
    {/*size=*/128, /*queries=*/192, /*reading=*/128},
    {/*size=*/256, /*queries=*/128, /*reading=*/128}};

/// Two warpgroups share 128 rows of the weight. A gate has two sums of each element, and its
/// exponential beside them: with as many rows registers would be spilled.
static constexpr HalvesSizes kHopperHalves = {
    {{128, 128}, 128, {8, 4}}, {{64, 128}, 64, {8, 4}}, /*f16=*/true};

/// All else as on sm_80, until it is measured.
static constexpr Level makeHopper() {
  Level level = kAmpere;
  level.name = "sm_90a";
  level.headQueries = kHopperQueries;
  level.manyHalves = &kHopperHalves;
  return level;
}

static constexpr Level kDeviceLevels[] = {kAmpere, makeHopper()};

bool Level::hasVnni() const {
  return llvm::any_of(features, [](StringRef name) { return name.ends_with("vnni"); });
}

int64_t mlir::fovea::fitRows(int64_t rows, int64_t columns, int64_t most) {
  while (rows > 1 && rows * columns > most)
    rows /= 2;
  return rows;
}

llvm::ArrayRef<Level> mlir::fovea::getLevels() { return kLevels; }

llvm::ArrayRef<Level> mlir::fovea::getDeviceLevels() { return kDeviceLevels; }

static const Level *findIn(llvm::ArrayRef<Level> levels, llvm::StringRef name) {
  const Level *found =
      llvm::find_if(levels, [&](const Level &level) { return level.name == name; });
  return found == levels.end() ? nullptr : found;
}

const Level *mlir::fovea::findLevel(llvm::StringRef name) {
  const Level *processor = findProcessorLevel(name);
  return processor ? processor : findIn(getDeviceLevels(), name);
}

const Level *mlir::fovea::findProcessorLevel(llvm::StringRef name) { return findIn(kLevels, name); }

std::string mlir::fovea::listProcessorLevels() {
  return llvm::join(llvm::map_range(kLevels, [](const Level &level) { return level.name; }), ", ");
}
