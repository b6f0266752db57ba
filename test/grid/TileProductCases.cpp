// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of the tile grid that are about products: contractions with weights as they lie in memory,
// and attention with a running maximum and sum.
#include "interpreter/Value.h"
#include "test/grid/TileCase.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace mlir::fovea;

std::string mlir::fovea::fill(const std::string &text,
                              const std::vector<std::pair<std::string, std::string>> &words) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      result += text[i++];
      continue;
    }
    size_t end = i + 1;
    while (end < text.size() && std::isupper(static_cast<unsigned char>(text[end])))
      ++end;
    std::string name = text.substr(i + 1, end - i - 1);
    for (const auto &[key, word] : words)
      if (key == name)
        result += fill(word, words);
    i = end;
  }
  return result;
}

Array mlir::fovea::makeNumbers(std::string type, std::vector<int64_t> shape, int seed, bool exact) {
  Array array{std::move(type), std::move(shape), {}};
  int64_t count = 1;
  for (int64_t size : array.shape)
    count *= size;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < count; ++i) {
    double value = normal(random);
    array.values.push_back(exact ? std::round(value * 32) / 32 : static_cast<float>(value));
  }
  return array;
}

Array mlir::fovea::makeIndex(int64_t value) { return {"index", {}, {static_cast<double>(value)}}; }

//===-- Contractions -------------------------------------------------------------------------===//

namespace {
enum class Weights { Rows, Columns, Panels, Pairs };

struct Contraction {
  int64_t outputs, depth, tileRows, tileOutputs;
  int64_t chunk; ///< of the depth, carried by a loop; 0: all at once
  Weights weights;
  const char *type; ///< of the weights
  int lanes = 1;
  const char *inputType = "f32", *block = "block(4, 32)";
  bool exact = true; ///< f32 of few bits
};
} // namespace

static const char *const kContraction = R"mlir(
func.func @kernel(%x: memref<?x$Kx$X>, %w: $W, %bias: memref<$Nxf32>, %y: memref<?x$Nxf32>, %part: index, %parts: index) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %tm = arith.constant $TM : index
  %tn = arith.constant $TN : index
  %tk = arith.constant $TK : index
  %k = arith.constant $K : index
  %panels = arith.constant $PANELS : index
  %zero = arith.constant 0.0 : f32
  %rows = memref.dim %x, %c0 : memref<?x$Kx$X>
  %xv = tile.view %x axes(0, 1) : memref<?x$Kx$X> -> !tile.view<?x$Kx$X>
  %wv = $VIEW -> $WV
  %bv = tile.view %bias axes(0) : memref<$Nxf32> -> !tile.view<1x$Nxf32>
  %yv = tile.view %y axes(0, 1) : memref<?x$Nxf32> -> !tile.view<?x$Nxf32>
  tile.kernel grid(%n) = (%panels) {
    %j = arith.muli %n, %tn : index
    %bias0 = tile.load %bv[%c0, %j] : !tile.view<1x$Nxf32> -> !tile.tile<1x$TNxf32$L>
    %bias1 = tile.broadcast %bias0 : !tile.tile<1x$TNxf32$L> -> $S
    %none = tile.splat %zero : $S
    scf.for %i = %c0 to %rows step %tm {
      $SUM
      %t = tile.map(%u = %s, %v = %bias1) : ($S, $S) -> $S {
        %0 = arith.addf %u, %v : f32
        %1 = arith.maximumf %0, %zero : f32
        tile.yield %1 : f32
      }
      tile.store %t, %yv[%i, %j] : $S, !tile.view<?x$Nxf32>
    }
  }
  return
}
)mlir";

static const char *const kWhole = R"mlir(
      %a = tile.load %xv[%i, %c0] : !tile.view<?x$Kx$X> -> !tile.tile<$TMx$TKx$X>
      %b = tile.load %wv[$AT] : $WV -> $B
      %s = tile.dot %a, %b $TRANSPOSE $BLOCK : !tile.tile<$TMx$TKx$X>, $B -> $S
)mlir";

static const char *const kChunks = R"mlir(
      %s = scf.for %c = %c0 to %k step %tk iter_args(%acc = %none) -> ($S) {
        %a = tile.load %xv[%i, %c] : !tile.view<?x$Kx$X> -> !tile.tile<$TMx$TKx$X>
        %b = tile.load %wv[$AT] : $WV -> $B
        %next = tile.dot %a, %b $TRANSPOSE into %acc $BLOCK : !tile.tile<$TMx$TKx$X>, $B -> $S
        scf.yield %next : $S
      }
)mlir";

/// The weight as it lies in memory; what pads panels and pairs is zero.
static Array layOut(const Array &weight, Weights how) {
  int64_t outputs = weight.shape[0], depth = weight.shape[1];
  int64_t panels = (outputs + 15) / 16, interleave = how == Weights::Pairs ? 2 : 1;
  Array result{weight.type, {}, {}};
  switch (how) {
  case Weights::Rows:
    return weight;
  case Weights::Columns:
    result.shape = {depth, outputs};
    break;
  case Weights::Panels:
    result.shape = {panels, depth, 16};
    break;
  case Weights::Pairs:
    result.shape = {panels, (depth + 1) / 2, 16, 2};
    break;
  }
  int64_t count = 1;
  for (int64_t size : result.shape)
    count *= size;
  result.values.resize(count);
  int64_t padded = (depth + interleave - 1) / interleave * interleave;
  for (int64_t n = 0; n < outputs; ++n)
    for (int64_t k = 0; k < depth; ++k) {
      int64_t place = how == Weights::Columns
                          ? k * outputs + n
                          : n / 16 * padded * 16 + k / interleave * 16 * interleave +
                                n % 16 * interleave + k % interleave;
      result.values[place] = weight.at(n, k);
    }
  return result;
}

static TileCase makeContraction(const Contraction &c) {
  auto number = [](int64_t n) { return std::to_string(n); };
  int64_t tileDepth = c.chunk ? c.chunk : c.depth;
  bool columns = c.weights == Weights::Columns;
  bool exactWeights = c.exact || std::string(c.type) != "f32";
  Array weight = makeNumbers(c.type, {c.outputs, c.depth}, 2, exactWeights),
        bias = makeNumbers("f32", {c.outputs}, 3);
  Array laid = layOut(weight, c.weights);
  std::string memory = "memref<";
  for (int64_t size : laid.shape)
    memory += number(size) + "x";
  memory += std::string(c.type) + ">";
  const char *names[] = {"rows", "columns", "panels", "pairs"};
  TileCase result;
  result.name =
      std::string("contraction_") + names[static_cast<int>(c.weights)] + "_" + c.type + "_from_" +
      c.inputType + "_" + number(c.outputs) + "x" + number(c.depth) + "_by_" + number(c.tileRows) +
      "x" + number(c.tileOutputs) + (c.chunk ? "_chunks_of_" + number(c.chunk) : "") +
      (c.lanes ? "" : "_rows_in_lanes") + (*c.block ? "" : "_free") + (c.exact ? "" : "_all_bits");
  result.tolerance = c.exact ? 0 : 1e-6;
  std::string view = columns || c.weights == Weights::Rows ? "tile.view %w axes(0, 1) : $W"
                                                           : "tile.packed %w : $W";
  std::string depthAt = c.chunk ? "%c" : "%c0";
  result.text =
      fill(kContraction, {{"N", number(c.outputs)},
                          {"K", number(c.depth)},
                          {"TM", number(c.tileRows)},
                          {"TN", number(c.tileOutputs)},
                          {"TK", number(tileDepth)},
                          {"PANELS", number((c.outputs + c.tileOutputs - 1) / c.tileOutputs)},
                          {"X", c.inputType},
                          {"W", memory},
                          {"T", c.type},
                          {"VIEW", view},
                          {"WV", columns ? "!tile.view<$Kx$Nx$T>" : "!tile.view<$Nx$Kx$T>"},
                          {"B", columns ? "!tile.tile<$TKx$TNx$T>" : "!tile.tile<$TNx$TKx$T>"},
                          {"AT", columns ? depthAt + ", %j" : "%j, " + depthAt},
                          {"TRANSPOSE", columns ? "" : "transpose_b"},
                          {"BLOCK", c.block},
                          {"L", c.lanes ? "" : ", lanes 0"},
                          {"S", "!tile.tile<$TMx$TNxf32$L>"},
                          {"SUM", c.chunk ? kChunks : kWhole}});
  // 127 leaves the largest tile one row short.
  for (int64_t rows : {0, 1, 3, 8, 17, 64, 70, 127}) {
    Array x = makeNumbers(c.inputType, {rows, c.depth}, 1, c.exact),
          y = makeNumbers("f32", {rows, c.outputs}, 4);
    TileCall call{{x, laid, bias, y}, {}};
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < c.outputs; ++n) {
        double sum = bias.values[n];
        for (int64_t k = 0; k < c.depth; ++k)
          sum += x.at(m, k) * weight.at(n, k);
        y.at(m, n) = std::max(sum, 0.0);
      }
    call.after = {x, laid, bias, y};
    result.calls.push_back(std::move(call));
  }
  return result;
}

std::vector<TileCase> mlir::fovea::makeContractionCases() {
  const Contraction kCases[] = {
      {96, 64, 64, 48, 0, Weights::Panels, "f32"},
      {96, 64, 64, 48, 0, Weights::Panels, "f32", 1, "f32", ""},
      {100, 37, 64, 48, 0, Weights::Panels, "f32", 1, "f32", "block(8, 48)"},
      {100, 37, 16, 48, 16, Weights::Panels, "f32", 1, "f32", "block(8, 48)"},
      {33, 70, 64, 32, 32, Weights::Panels, "f16"},
      {100, 37, 64, 48, 0, Weights::Panels, "f16", 1, "f32", ""},
      {100, 37, 64, 48, 0, Weights::Pairs, "bf16"},
      {100, 38, 16, 48, 16, Weights::Pairs, "bf16", 1, "f32", "block(5, 48)"},
      {1, 1, 4, 16, 0, Weights::Pairs, "bf16", 1, "f32", ""},
      {17, 65, 1, 128, 0, Weights::Pairs, "bf16", 1, "f32", "block(1, 128)"},
      {100, 65, 1, 128, 0, Weights::Panels, "f32", 1, "f32", "block(1, 128)"},
      {64, 33, 8, 32, 0, Weights::Pairs, "bf16", 1, "bf16"},
      {17, 65, 1, 128, 0, Weights::Pairs, "bf16", 1, "bf16", "block(1, 128)"},
      {100, 64, 64, 48, 0, Weights::Pairs, "bf16", 1, "bf16", "block(8, 48)"},
      {100, 38, 16, 48, 16, Weights::Pairs, "bf16", 1, "bf16", "block(5, 48)"},
      {128, 96, 128, 64, 0, Weights::Pairs, "bf16", 1, "bf16", "block(32, 32)"},
      {100, 32, 64, 48, 0, Weights::Pairs, "bf16", 1, "bf16", "block(32, 32)"},
      {40, 37, 64, 32, 0, Weights::Pairs, "bf16", 1, "bf16", "block(32, 32)"},
      {64, 33, 8, 32, 0, Weights::Panels, "f32", 1, "bf16"},
      {64, 33, 8, 32, 8, Weights::Rows, "f32"},
      {30, 33, 8, 32, 0, Weights::Rows, "f32", 1, "f32", ""},
      {30, 33, 8, 16, 0, Weights::Rows, "bf16"},
      {30, 33, 8, 16, 0, Weights::Rows, "f16", 1, "f32", ""},
      {64, 33, 8, 32, 8, Weights::Columns, "f32"},
      {51, 33, 8, 32, 0, Weights::Columns, "f32"},
      {51, 33, 8, 32, 0, Weights::Columns, "bf16", 1, "f32", ""},
      {48, 32, 32, 16, 0, Weights::Rows, "f32", 0, "f32", ""},
      {51, 33, 64, 16, 0, Weights::Rows, "f32", 0},
      {51, 33, 32, 24, 16, Weights::Columns, "f32", 0, "f32", ""},
      {51, 33, 32, 48, 0, Weights::Panels, "f32", 0, "f32", ""},
      {51, 33, 32, 48, 0, Weights::Pairs, "bf16", 0, "f32", ""},
      {51, 33, 20, 16, 0, Weights::Rows, "bf16", 0, "bf16", ""},
      // As instructions for matrices multiply them: halves, in whole pieces and in parts of them.
      // One k alone has no pair.
      {96, 1, 64, 48, 0, Weights::Rows, "bf16", 1, "bf16", ""},
      {96, 1, 64, 48, 0, Weights::Columns, "bf16", 1, "bf16", ""},
      {51, 3, 64, 48, 0, Weights::Columns, "bf16", 1, "bf16", ""},
      {96, 64, 64, 48, 0, Weights::Rows, "bf16", 1, "bf16", ""},
      {96, 64, 64, 64, 32, Weights::Columns, "bf16", 1, "bf16", ""},
      {100, 72, 32, 40, 0, Weights::Columns, "f16", 1, "f16", ""},
      {100, 40, 64, 48, 16, Weights::Rows, "f16", 1, "f16", ""},
      {51, 33, 48, 24, 0, Weights::Pairs, "bf16", 1, "bf16", ""},
      {100, 72, 16, 128, 0, Weights::Rows, "bf16", 1, "bf16", ""},
      {64, 24, 128, 32, 0, Weights::Panels, "f16", 1, "f16", ""},
      {96, 64, 64, 64, 0, Weights::Rows, "f32", 1, "f32", "", /*exact=*/false},
      {70, 37, 32, 40, 16, Weights::Columns, "f32", 1, "f32", "", /*exact=*/false},
      {96, 64, 16, 64, 0, Weights::Panels, "f32", 1, "f32", "", /*exact=*/false},
      {96, 64, 64, 64, 0, Weights::Pairs, "bf16", 1, "f32", "", /*exact=*/false},
      {64, 48, 64, 64, 0, Weights::Panels, "f16", 1, "f32", "", /*exact=*/false},
  };
  std::vector<TileCase> cases;
  for (const Contraction &contraction : kCases)
    cases.push_back(makeContraction(contraction));
  return cases;
}

//===-- Attention ----------------------------------------------------------------------------===//

namespace {
struct Attention {
  int64_t queries, keys, size; ///< of a tile, and of a head
  int lanes;                   ///< 0: queries in lanes
  const char *type;            ///< of keys and values
  bool causal = false;
  bool turned = false; ///< the result is [size, queries]
  bool halves = false; ///< queries and weights are of `type` too
};
} // namespace

static const char *const kAttention = R"mlir(
func.func @kernel(%q: memref<?x$Dx$A>, %k: memref<?x2x?x$Dx$T>, %v: memref<?x2x?x$Dx$T>, %y: $Y, %n: index, %part: index, %parts: index) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %tq = arith.constant $TQ : index
  %tk = arith.constant $TK : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e30 : f32
  %factor = arith.constant 0.25 : f32
  %queries = memref.dim %q, %c0 : memref<?x$Dx$A>
  %blocks = arith.ceildivui %queries, %tq : index
  %keys = arith.index_cast %n : index to i32
  %before = arith.subi %n, %queries : index
  %ahead = arith.index_cast %before : index to i32
  %qv = tile.view %q axes(0, 1) : memref<?x$Dx$A> -> !tile.view<?x$Dx$A>
  %kv = tile.view %k at(%c1, %c1) axes(2, 3) length(%n) : memref<?x2x?x$Dx$T> -> !tile.view<?x$Dx$T>
  %vv = tile.view %v at(%c1, %c1) axes(2, 3) length(%n) : memref<?x2x?x$Dx$T> -> !tile.view<?x$Dx$T>
  %yv = tile.view %y axes($AXES) : $Y -> !tile.view<?x$Dxf32>
  tile.kernel grid(%b) = (%blocks) {
    %i = arith.muli %b, %tq : index
    %a = tile.load %qv[%i, %c0] : !tile.view<?x$Dx$A> -> !tile.tile<$TQx$Dx$A>
    %m0 = tile.splat %low : !tile.tile<$TQx1xf32$L>
    %l0 = tile.splat %zero : !tile.tile<$TQx1xf32$L>
    %o0 = tile.splat %zero : !tile.tile<$TQx$Dxf32$L>
    %r:3 = scf.for %j = %c0 to %n step %tk iter_args(%m = %m0, %l = %l0, %o = %o0)
        -> (!tile.tile<$TQx1xf32$L>, !tile.tile<$TQx1xf32$L>, !tile.tile<$TQx$Dxf32$L>) {
      %kt = tile.load %kv[%j, %c0] : !tile.view<?x$Dx$T> -> !tile.tile<$TKx$Dx$T>
      %vt = tile.load %vv[%j, %c0] : !tile.view<?x$Dx$T> -> !tile.tile<$TKx$Dx$T>
      %s = tile.dot %a, %kt transpose_b : !tile.tile<$TQx$Dx$A>, !tile.tile<$TKx$Dx$T> -> !tile.tile<$TQx$TKxf32$L>
      %kp = tile.iota axis(1) from %j : !tile.tile<$TQx$TKxi32$L>
      %qp = tile.iota axis(0) from %i : !tile.tile<$TQx$TKxi32$L>
      %masked = tile.map(%x = %s, %at = %kp, %of = %qp)
          : (!tile.tile<$TQx$TKxf32$L>, !tile.tile<$TQx$TKxi32$L>, !tile.tile<$TQx$TKxi32$L>) -> !tile.tile<$TQx$TKxf32$L> {
        %scaled = arith.mulf %x, %factor : f32
        %inside = arith.cmpi slt, %at, %keys : i32
        $MASK
        %kept = arith.select %keep, %scaled, %low : f32
        tile.yield %kept : f32
      }
      %largest = tile.reduce maximum %masked axis(1) : !tile.tile<$TQx$TKxf32$L> -> !tile.tile<$TQx1xf32$L>
      %next = tile.map(%x = %m, %z = %largest) : (!tile.tile<$TQx1xf32$L>, !tile.tile<$TQx1xf32$L>) -> !tile.tile<$TQx1xf32$L> {
        %0 = arith.maxnumf %x, %z : f32
        tile.yield %0 : f32
      }
      %nexts = tile.broadcast %next : !tile.tile<$TQx1xf32$L> -> !tile.tile<$TQx$TKxf32$L>
      %p = tile.map(%x = %masked, %z = %nexts) : (!tile.tile<$TQx$TKxf32$L>, !tile.tile<$TQx$TKxf32$L>) -> !tile.tile<$TQx$TKxf32$L> {
        %0 = arith.subf %x, %z : f32
        %1 = math.exp2 %0 : f32
        tile.yield %1 : f32
      }
      %shrink = tile.map(%x = %m, %z = %next) : (!tile.tile<$TQx1xf32$L>, !tile.tile<$TQx1xf32$L>) -> !tile.tile<$TQx1xf32$L> {
        %0 = arith.subf %x, %z : f32
        %1 = math.exp2 %0 : f32
        tile.yield %1 : f32
      }
      %sum = tile.reduce sum %p axis(1) : !tile.tile<$TQx$TKxf32$L> -> !tile.tile<$TQx1xf32$L>
      %lnext = tile.map(%x = %l, %f = %shrink, %z = %sum)
          : (!tile.tile<$TQx1xf32$L>, !tile.tile<$TQx1xf32$L>, !tile.tile<$TQx1xf32$L>) -> !tile.tile<$TQx1xf32$L> {
        %0 = arith.mulf %x, %f : f32
        %1 = arith.addf %0, %z : f32
        tile.yield %1 : f32
      }
      %shrinks = tile.broadcast %shrink : !tile.tile<$TQx1xf32$L> -> !tile.tile<$TQx$Dxf32$L>
      %less = tile.map(%x = %o, %f = %shrinks) : (!tile.tile<$TQx$Dxf32$L>, !tile.tile<$TQx$Dxf32$L>) -> !tile.tile<$TQx$Dxf32$L> {
        %0 = arith.mulf %x, %f : f32
        tile.yield %0 : f32
      }
      $ROUND
      %onext = tile.dot $WEIGHTS, %vt into %less : !tile.tile<$TQx$TKx$A$L>, !tile.tile<$TKx$Dx$T> -> !tile.tile<$TQx$Dxf32$L>
      scf.yield %next, %lnext, %onext : !tile.tile<$TQx1xf32$L>, !tile.tile<$TQx1xf32$L>, !tile.tile<$TQx$Dxf32$L>
    }
    %sums = tile.broadcast %r#1 : !tile.tile<$TQx1xf32$L> -> !tile.tile<$TQx$Dxf32$L>
    %out = tile.map(%x = %r#2, %z = %sums) : (!tile.tile<$TQx$Dxf32$L>, !tile.tile<$TQx$Dxf32$L>) -> !tile.tile<$TQx$Dxf32$L> {
      %0 = arith.divf %x, %z : f32
      tile.yield %0 : f32
    }
    tile.store %out, %yv[%i, %c0] : !tile.tile<$TQx$Dxf32$L>, !tile.view<?x$Dxf32>
  }
  return
}
)mlir";

static TileCase makeAttention(const Attention &c) {
  auto number = [](int64_t n) { return std::to_string(n); };
  TileCase result;
  const llvm::fltSemantics &semantics =
      c.type == std::string("f16") ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
  result.tolerance = 4e-6;
  result.name = std::string(c.halves ? "attention_of_halves_" : "attention_") + c.type + "_" +
                number(c.queries) + "x" + number(c.keys) + "_of_" + number(c.size) +
                (c.lanes ? "" : "_queries_in_lanes") + (c.causal ? "_causal" : "") +
                (c.turned ? "_turned" : "");
  result.text =
      fill(kAttention, {{"TQ", number(c.queries)},
                        {"TK", number(c.keys)},
                        {"D", number(c.size)},
                        {"ROUND", c.halves ? "%w = tile.cast %p : !tile.tile<$TQx$TKxf32$L> -> "
                                             "!tile.tile<$TQx$TKx$A$L>"
                                           : ""},
                        {"WEIGHTS", c.halves ? "%w" : "%p"},
                        {"A", c.halves ? c.type : "f32"},
                        {"T", c.type},
                        {"L", c.lanes ? "" : ", lanes 0"},
                        {"Y", c.turned ? "memref<$Dx?xf32>" : "memref<?x$Dxf32>"},
                        {"AXES", c.turned ? "1, 0" : "0, 1"},
                        {"MASK", c.causal ? "%seen = arith.addi %of, %ahead : i32\n"
                                            "%past = arith.cmpi sle, %at, %seen : i32\n"
                                            "%keep = arith.andi %inside, %past : i1"
                                          : "%keep = arith.ori %inside, %inside : i1"}});
  std::vector<std::pair<int64_t, int64_t>> lengths = {
      {1, 1}, {1, 70}, {5, 33}, {16, 16}, {17, 64}, {40, 41}, {63, 127}, {64, 64}, {79, 95}};
  // Tiles of 64 keys need more of them for as many rounds.
  if (c.halves)
    lengths.push_back({20, 330});
  // And each warpgroup queries of its own.
  if (c.queries > 64)
    lengths.insert(lengths.end(), {{191, 200}, {200, 201}});
  for (auto [queries, keys] : lengths) {
    // The caches have room for more keys than there are: what lies there must not be seen.
    int64_t room = keys + 3;
    Array q = makeNumbers(c.halves ? c.type : "f32", {queries, c.size}, 1),
          k = makeNumbers(c.type, {2, 2, room, c.size}, 2),
          v = makeNumbers(c.type, {2, 2, room, c.size}, 3);
    // Scores in eighths, whose exponentials no rounding is near to halves of.
    if (c.halves) {
      for (double &value : q.values)
        value = std::round(2 * value) / 2;
      for (double &value : k.values)
        value = std::round(value);
    }
    // Rows of scores that differ by thousands: exp2 overflows where it is not told the largest of
    // all of its own row. They are exact in f32 still.
    for (int64_t i = 0; i < queries; ++i)
      for (int64_t d = 0; d < c.size; ++d)
        q.at(i, d) *= i % 3 == 0 ? 1 : i % 3 == 1 ? 1024 : 8;
    for (Array *cache : {&k, &v})
      for (int64_t at = 3 * room + keys; at < 4 * room; ++at)
        for (int64_t d = 0; d < c.size; ++d)
          cache->at(at, d) = std::numeric_limits<double>::quiet_NaN();
    Array y = makeNumbers("f32", {queries, c.size}, 4);
    if (c.turned)
      y.shape = {c.size, queries};
    TileCall call{{q, k, v, y, makeIndex(keys)}, {}};
    for (int64_t i = 0; i < queries; ++i) {
      std::vector<double> scores(c.causal ? i + keys - queries + 1 : keys), sums(c.size);
      double total = 0, largest = -1e30;
      for (size_t j = 0; j < scores.size(); ++j)
        for (int64_t d = 0; d < c.size; ++d)
          scores[j] += q.at(i, d) * k.at(3 * room + j, d) / 4;
      // A tile of keys after the other, for what weights are rounded to depends on the largest
      // score up to there.
      for (size_t first = 0; first < scores.size(); first += c.keys) {
        size_t end = std::min<size_t>(first + c.keys, scores.size());
        double next = std::max(largest, *std::max_element(&scores[first], &scores[0] + end));
        double shrink = std::exp2(largest - next);
        total *= shrink;
        for (double &sum : sums)
          sum *= shrink;
        for (size_t j = first; j < end; ++j) {
          double weight = std::exp2(scores[j] - next);
          total += weight;
          if (c.halves)
            weight = interpreter::roundToSemantics(weight, semantics);
          for (int64_t d = 0; d < c.size; ++d)
            sums[d] += weight * v.at(3 * room + j, d);
        }
        largest = next;
      }
      for (int64_t d = 0; d < c.size; ++d)
        (c.turned ? y.at(d, i) : y.at(i, d)) = sums[d] / total;
    }
    call.after = {q, k, v, y, makeIndex(keys)};
    result.calls.push_back(std::move(call));
  }
  return result;
}

std::vector<TileCase> mlir::fovea::makeAttentionCases() {
  const Attention kCases[] = {
      {16, 16, 32, 1, "f32"},
      {16, 16, 32, 0, "f32"},
      {64, 32, 64, 0, "f32", true},
      {32, 24, 20, 0, "f32"},
      {32, 64, 64, 0, "bf16", true},
      {16, 16, 40, 0, "f16"},
      {1, 32, 64, 1, "f32"},
      {4, 32, 64, 1, "bf16"},
      {5, 20, 36, 1, "f32", true},
      {16, 16, 32, 0, "f32", true, true},
      {32, 48, 33, 0, "f32", false, true},
      {16, 16, 33, 1, "f32", false, true},
  };
  std::vector<TileCase> cases;
  for (const Attention &attention : kCases)
    cases.push_back(makeAttention(attention));
  return cases;
}

std::vector<TileCase> mlir::fovea::makeHalfAttentionCases() {
  const Attention kCases[] = {
      {64, 64, 64, 0, "bf16", true, false, true},
      {64, 32, 96, 1, "f16", false, false, true},
      {64, 16, 40, 0, "bf16", false, true, true},
      {192, 64, 32, 0, "bf16", true, false, true}, // three warpgroups on sm_90a
  };
  std::vector<TileCase> cases;
  for (const Attention &attention : kCases)
    cases.push_back(makeAttention(attention));
  return cases;
}
