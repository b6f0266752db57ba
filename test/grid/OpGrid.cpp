// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every op but attention, each kind of each, compiled against the interpreter in f64; whole and in
// three parts over memory that holds other things before, which must agree to the bit; nothing that
// was not written may be computed with.
#include "interpreter/Interpreter.h"
#include "lowering/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "test/grid/NativeProgram.h"
#include "test/grid/NoWeights.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

namespace {

/// `arguments` and `results` as in a function's text; the first dynamic size is 2, the second 5.
struct OpCase {
  const char *name, *arguments, *body, *result;
  double tolerance = 2e-6;
};

#define ACTIVATION(kind)                                                                           \
  {"activation_" kind, "%x: tensor<?x?x7xf32>",                                                    \
   "%y = fovea.activation " kind " %x : tensor<?x?x7xf32>", "tensor<?x?x7xf32>"},                  \
      {"glu_" kind, "%x: tensor<?x?x7xf32>, %u: tensor<?x?x7xf32>",                                \
       "%y = fovea.glu " kind " %x, %u : tensor<?x?x7xf32>", "tensor<?x?x7xf32>"}

#define POOL(kind)                                                                                 \
  {"pool_" kind, "%x: tensor<?x?x7xf32>",                                                          \
   "%y = fovea.pool " kind " %x : tensor<?x?x7xf32> -> tensor<?x7xf32>", "tensor<?x7xf32>"},       \
      {"pool_kept_" kind, "%x: tensor<?x?x7xf32>, %k: tensor<?x?xi64>",                            \
       "%y = fovea.pool " kind                                                                     \
       " %x keep(%k : tensor<?x?xi64>) : tensor<?x?x7xf32> -> tensor<?x7xf32>",                    \
       "tensor<?x7xf32>"}

#define ROPE(name, pairing, dim, scaling)                                                          \
  {"rope_" name, "%x: tensor<?x?x3x12xf32>, %p: tensor<?x?xi32>",                                  \
   "%y = fovea.rope " pairing " %x at(%p : tensor<?x?xi32>) dim(" dim ") theta(10000.0) " scaling  \
   " : tensor<?x?x3x12xf32>",                                                                      \
   "tensor<?x?x3x12xf32>"}

#define TOP_K(name, width, count, type)                                                            \
  {name, "%x: tensor<?x?x" width "x" type ">",                                                     \
   "%y, %i = fovea.top_k %x : tensor<?x?x" width "x" type "> -> tensor<?x?x" count "x" type        \
   ">, tensor<?x?x" count "xi64>",                                                                 \
   "tensor<?x?x" count "x" type ">", 0},                                                           \
      {name "_indices", "%x: tensor<?x?x" width "x" type ">",                                      \
       "%v, %y = fovea.top_k %x : tensor<?x?x" width "x" type "> -> tensor<?x?x" count "x" type    \
       ">, tensor<?x?x" count "xi64>",                                                             \
       "tensor<?x?x" count "xi64>", 0}

/// Three of twelve, in the groups and with the bias that `how` says.
#define ROUTE(name, type, how, tolerance)                                                          \
  {name, "%x: tensor<?x?x12x" type ">, %b: tensor<12xf32>",                                        \
   "%y, %i = fovea.top_k %x " how " : tensor<?x?x12x" type "> -> tensor<?x?x3x" type               \
   ">, tensor<?x?x3xi64>",                                                                         \
   "tensor<?x?x3x" type ">", tolerance}

#define DISPATCH(which, result)                                                                    \
  {"dispatch_" which, "%x: tensor<?x?x3xi64>",                                                     \
   "%tokens, %places, %offsets = fovea.dispatch %x : tensor<?x?x3xi64> -> tensor<7xi64>\n"         \
   "%y = tensor.cast %" which " : " result " to " result,                                          \
   result, 0}

/// Rows of six experts (a tie that is rounded otherwise is a hundredth), whose weight has `rows`
/// rows; %v is a vector of as many numbers.
#define EXPERTS(name, rows, type, outputs, also, tolerance)                                        \
  {name,                                                                                           \
   "%x: tensor<?x?x2x33xf32>, %e: tensor<?x?x2xi64>, %w: tensor<" rows "x33x" type                 \
   ">, %v: tensor<" rows "xf32>",                                                                  \
   "%t:3 = fovea.dispatch %e : tensor<?x?x2xi64> -> tensor<7xi64>\n%y = fovea.linear %x, %w " also \
   " experts(%t#2 : tensor<7xi64>) : tensor<?x?x2x33xf32>, tensor<" rows "x33x" type               \
   "> -> tensor<?x?x2x" outputs "xf32>",                                                           \
   "tensor<?x?x2x" outputs "xf32>", tolerance}

/// One range of a product's columns, by heads of 16; S is 1 or ?, N the same as an operand.
#define HEADS(name, from, columns, heads, S, N)                                                    \
  "%" name "0 = tensor.extract_slice %0[0, 0, " from "] [%m, " N ", " columns                      \
  "] [1, 1, 1] : tensor<?x" S "x64xf32> to tensor<?x" S "x" columns "xf32>\n"                      \
  "%" name "1 = tensor.expand_shape %" name "0 [[0], [1], [2, 3]] output_shape [%m, " N ", " heads \
  ", 16] : tensor<?x" S "x" columns "xf32> into tensor<?x" S "x" heads "x16xf32>\n"
#define TURNED(name, heads, S)                                                                     \
  "%" name "2 = fovea.rope half %" name "1 at(%p : tensor<1x" S                                    \
  "xi32>) dim(16) theta(10000.0) : tensor<?x" S "x" heads "x16xf32>\n"

/// Queries of two heads, keys and values of one from a single product; both grow caches.
#define ATTENTION(name, S, N, count)                                                               \
  {name, "%x: tensor<?x" S "x33xf32>, %w: tensor<64x33xf32>",                                      \
   "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"                              \
   "%m = tensor.dim %x, %c0 : tensor<?x" S "x33xf32>\n"                                            \
   "%n = tensor.dim %x, %c1 : tensor<?x" S "x33xf32>\n"                                            \
   "%kc = fovea.cache_create %m, %n : !fovea.cache<key, 1x16xf32>\n"                               \
   "%vc = fovea.cache_create %m, %n : !fovea.cache<value, 1x16xf32>\n"                             \
   "%first = arith.constant 1000003 : index\n"                                                     \
   "%p = fovea.positions from %first " count " : tensor<1x" S "xi32>\n"                            \
   "%0 = fovea.linear %x, %w : tensor<?x" S "x33xf32>, tensor<64x33xf32> -> tensor<?x" S           \
   "x64xf32>\n" HEADS("q", "0", "32", "2", S, N) HEADS("k", "32", "16", "1", S, N)                 \
       HEADS("v", "48", "16", "1", S, N) TURNED("q", "2", S) TURNED(                               \
           "k", "1",                                                                               \
           S) "%kn = fovea.cache_append %kc, %k2 : !fovea.cache<key, 1x16xf32>, tensor<?x" S       \
              "x1x16xf32>\n%vn = fovea.cache_append %vc, %v1 : !fovea.cache<value, 1x16xf32>, "    \
              "tensor<?x" S "x1x16xf32>\n%y = fovea.attention %q2, %kn, %vn : tensor<?x" S         \
              "x2x16xf32>, !fovea.cache<key, 1x16xf32>, !fovea.cache<value, 1x16xf32> -> "         \
              "tensor<?x" S "x2x16xf32>",                                                          \
   "tensor<?x" S "x2x16xf32>"}

/// A product of two operands, its axes named by the maps; `sizes` are of the result's open axes.
#define CONTRACT(name, arguments, dims, fill, sizes, maps, operands, result)                       \
  {name, arguments,                                                                                \
   dims "%zero = arith.constant 0.0 : " fill "\n%z = tensor.splat %zero" sizes " : " result        \
        "\n%y = linalg.contract indexing_maps = [" maps "] ins(" operands ") outs(%z : " result    \
        ") -> " result,                                                                            \
   result}
#define DIM(name, of, axis, type)                                                                  \
  "%c" name " = arith.constant " axis " : index\n%" name " = tensor.dim %" of ", %c" name          \
  " : " type "\n"
#define MAP(loops, axes) "affine_map<(" loops ") -> (" axes ")>"

/// A cumulative sum: of the terms at `j relation i`, along `axis` of [?, ?, 7]. The result has
/// `last` columns.
#define CUMULATIVE(name, relation, axis, from, last, type, zero, add)                              \
  {"cumulative_" name, "%x: tensor<?x?x7x" type ">",                                               \
   DIM("m", "x", "0", "tensor<?x?x7x" type ">")                                                    \
       DIM("n", "x", "1",                                                                          \
           "tensor<?x?x7x" type                                                                    \
           ">") "%zero = arith.constant " zero " : " type                                          \
                "\n%z = tensor.splat %zero[%m, %n] : tensor<?x?x" last "x" type                    \
                ">\n%y = linalg.generic {indexing_maps = [" MAP("a, b, c, j", from) ", " MAP(      \
                    "a, b, c, j",                                                                  \
                    "a, b, c") "], iterator_types = [\"parallel\", \"parallel\", \"parallel\", "   \
                               "\"reduction\"]} ins(%x : tensor<?x?x7x" type                       \
                               ">) outs(%z : tensor<?x?x" last "x" type ">) {\n"                   \
                               "^bb0(%t: " type ", %s: " type "):\n%i = linalg.index " axis        \
                               " : index\n"                                                        \
                               "%j = linalg.index 3 : index\n%k = arith.cmpi " relation            \
                               ", %j, %i : index\n"                                                \
                               "%u = arith.select %k, %t, %zero : " type "\n%v = " add             \
                               " %s, %u : " type "\nlinalg.yield %v : " type                       \
                               "\n} -> tensor<?x?x" last "x" type ">",                             \
   "tensor<?x?x" last "x" type ">"}

/// A map of [?, ?, columns] from %x and %u, read by these maps; `sizes` are the result's open ones.
#define MAPPED(name, arguments, sizes, maps, operands, result, element, tolerance)                 \
  {name, arguments,                                                                                \
   sizes "\n%y = linalg.generic {indexing_maps = [" maps                                           \
         "], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%x, %u : " operands  \
         ") outs(%e : " result ") {\n^bb0(%a: " element ", %b: " element ", %o: " element          \
         "):\n%0 = arith.mulf %a, %b : " element "\n%1 = arith.addf %0, %b : " element             \
         "\nlinalg.yield %1 : " element "\n} -> " result,                                          \
   result, tolerance}

const OpCase kCases[] = {
    MAPPED("map_turned", "%x: tensor<?x40x?xf32>, %u: tensor<40xf32>",
           DIM("m", "x", "0", "tensor<?x40x?xf32>")
               DIM("n", "x", "2",
                   "tensor<?x40x?xf32>") "%e = tensor.empty(%m, %n) : tensor<?x?x40xf32>",
           MAP("a, b, c", "a, c, b") ", " MAP("a, b, c", "c") ", " MAP("a, b, c", "a, b, c"),
           "tensor<?x40x?xf32>, tensor<40xf32>", "tensor<?x?x40xf32>", "f32", 2e-6),
    MAPPED("map_turned_both", "%x: tensor<70x?x?xf32>, %u: tensor<70x?x?xf32>",
           DIM("m", "x", "1", "tensor<70x?x?xf32>")
               DIM("n", "x", "2",
                   "tensor<70x?x?xf32>") "%e = tensor.empty(%n, %m) : tensor<?x?x70xf32>",
           MAP("a, b, c", "c, b, a") ", " MAP("a, b, c", "c, b, a") ", " MAP("a, b, c", "a, b, c"),
           "tensor<70x?x?xf32>, tensor<70x?x?xf32>", "tensor<?x?x70xf32>", "f32", 2e-6),
    MAPPED("map_turned_by_rows", "%x: tensor<?x?x70xbf16>, %u: tensor<?x1xbf16>",
           DIM("m", "x", "0", "tensor<?x?x70xbf16>")
               DIM("n", "x", "1",
                   "tensor<?x?x70xbf16>") "%e = tensor.empty(%m, %n) : tensor<?x70x?xbf16>",
           MAP("a, b, c", "a, c, b") ", " MAP("a, b, c", "a, 0") ", " MAP("a, b, c", "a, b, c"),
           "tensor<?x?x70xbf16>, tensor<?x1xbf16>", "tensor<?x70x?xbf16>", "bf16", 0),
    MAPPED("map_with_rows", "%x: tensor<?x?x70xf32>, %u: tensor<?x?x1xf32>",
           DIM("m", "x", "0", "tensor<?x?x70xf32>")
               DIM("n", "x", "1",
                   "tensor<?x?x70xf32>") "%e = tensor.empty(%m, %n) : tensor<?x?x70xf32>",
           MAP("a, b, c", "a, b, c") ", " MAP("a, b, c", "a, b, 0") ", " MAP("a, b, c", "a, b, c"),
           "tensor<?x?x70xf32>, tensor<?x?x1xf32>", "tensor<?x?x70xf32>", "f32", 2e-6),
    MAPPED(
        "map_with_channels", "%x: tensor<?x20x1100xf32>, %u: tensor<20x1xf32>",
        DIM("m", "x", "0", "tensor<?x20x1100xf32>") "%e = tensor.empty(%m) : tensor<?x20x1100xf32>",
        MAP("a, b, c", "a, b, c") ", " MAP("a, b, c", "b, 0") ", " MAP("a, b, c", "a, b, c"),
        "tensor<?x20x1100xf32>, tensor<20x1xf32>", "tensor<?x20x1100xf32>", "f32", 2e-6),
    MAPPED("map_with_a_scalar", "%x: tensor<?x20x?xf32>, %u: tensor<f32>",
           DIM("m", "x", "0", "tensor<?x20x?xf32>")
               DIM("n", "x", "2",
                   "tensor<?x20x?xf32>") "%e = tensor.empty(%m, %n) : tensor<?x?x20xf32>",
           MAP("a, b, c", "a, c, b") ", " MAP("a, b, c", "") ", " MAP("a, b, c", "a, b, c"),
           "tensor<?x20x?xf32>, tensor<f32>", "tensor<?x?x20xf32>", "f32", 2e-6),
    {"transpose", "%x: tensor<?x?x5x20xf32>",
     DIM("m", "x", "0", "tensor<?x?x5x20xf32>")
         DIM("n", "x", "1",
             "tensor<?x?x5x20xf32>") "%e = tensor.empty(%m, %n) : tensor<?x5x20x?xf32>\n"
                                     "%y = linalg.transpose ins(%x : tensor<?x?x5x20xf32>) outs(%e "
                                     ": tensor<?x5x20x?xf32>) "
                                     "permutation = [0, 2, 3, 1]",
     "tensor<?x5x20x?xf32>", 0},
    CONTRACT("contract_batches", "%a: tensor<?x70x33xf32>, %b: tensor<?x33x50xf32>",
             DIM("m", "a", "0", "tensor<?x70x33xf32>"), "f32", "[%m]",
             MAP("b, i, j, k", "b, i, k") ", " MAP("b, i, j, k", "b, k, j") ", " MAP("b, i, j, k",
                                                                                     "b, i, j"),
             "%a, %b : tensor<?x70x33xf32>, tensor<?x33x50xf32>", "tensor<?x70x50xf32>"),
    CONTRACT("contract_heads_between", "%a: tensor<?x?x3x33xf32>, %b: tensor<?x?x3x33xf32>",
             DIM("m", "a", "0", "tensor<?x?x3x33xf32>") DIM("n", "a", "1", "tensor<?x?x3x33xf32>"),
             "f32", "[%m, %n, %n]",
             MAP("b, h, i, j, k", "b, i, h, k") ", " MAP("b, h, i, j, k", "b, j, h, k") ", " MAP(
                 "b, h, i, j, k", "b, h, i, j"),
             "%a, %b : tensor<?x?x3x33xf32>, tensor<?x?x3x33xf32>", "tensor<?x3x?x?xf32>"),
    CONTRACT("contract_open_depth", "%a: tensor<?x?xf32>, %b: tensor<?x?xf32>",
             DIM("m", "a", "1", "tensor<?x?xf32>") DIM("n", "b", "1", "tensor<?x?xf32>"), "f32",
             "[%m, %n]",
             MAP("i, j, k", "k, i") ", " MAP("i, j, k", "k, j") ", " MAP("i, j, k", "i, j"),
             "%a, %b : tensor<?x?xf32>, tensor<?x?xf32>", "tensor<?x?xf32>"),
    CONTRACT("contract_long_depth", "%a: tensor<?x2100xf32>, %b: tensor<9x2100xf32>",
             DIM("m", "a", "0", "tensor<?x2100xf32>"), "f32", "[%m]",
             MAP("i, j, k", "i, k") ", " MAP("i, j, k", "j, k") ", " MAP("i, j, k", "i, j"),
             "%a, %b : tensor<?x2100xf32>, tensor<9x2100xf32>", "tensor<?x9xf32>"),
    CONTRACT("contract_shared_matrix", "%a: tensor<?x?x33xf32>, %b: tensor<33x130xf32>",
             DIM("m", "a", "0", "tensor<?x?x33xf32>") DIM("n", "a", "1", "tensor<?x?x33xf32>"),
             "f32", "[%m, %n]",
             MAP("b, i, j, k", "b, i, k") ", " MAP("b, i, j, k", "k, j") ", " MAP("b, i, j, k",
                                                                                  "b, i, j"),
             "%a, %b : tensor<?x?x33xf32>, tensor<33x130xf32>", "tensor<?x?x130xf32>"),
    CONTRACT("contract_outer_of_columns", "%a: tensor<20x33xf32>, %b: tensor<?x18x33xf32>",
             DIM("m", "b", "0", "tensor<?x18x33xf32>"), "f32", "[%m]",
             MAP("b, i, j, k", "i, k") ", " MAP("b, i, j, k", "b, j, k") ", " MAP("b, i, j, k",
                                                                                  "b, i, j"),
             "%a, %b : tensor<20x33xf32>, tensor<?x18x33xf32>", "tensor<?x20x18xf32>"),
    CONTRACT("contract_operands_turned", "%a: tensor<33x18xf32>, %b: tensor<?x33xf32>",
             DIM("m", "b", "0", "tensor<?x33xf32>"), "f32", "[%m]",
             MAP("i, j, k", "k, j") ", " MAP("i, j, k", "i, k") ", " MAP("i, j, k", "i, j"),
             "%a, %b : tensor<33x18xf32>, tensor<?x33xf32>", "tensor<?x18xf32>"),
    CONTRACT("contract_halves", "%a: tensor<?x70x33xbf16>, %b: tensor<?x33x50xf16>",
             DIM("m", "a", "0", "tensor<?x70x33xbf16>"), "f32", "[%m]",
             MAP("b, i, j, k", "b, i, k") ", " MAP("b, i, j, k", "b, k, j") ", " MAP("b, i, j, k",
                                                                                     "b, i, j"),
             "%a, %b : tensor<?x70x33xbf16>, tensor<?x33x50xf16>", "tensor<?x70x50xf32>"),
    CONTRACT("contract_pairs", "%a: tensor<?x70x33xbf16>, %b: tensor<?x33x50xbf16>",
             DIM("m", "a", "0", "tensor<?x70x33xbf16>"), "f32", "[%m]",
             MAP("b, i, j, k", "b, i, k") ", " MAP("b, i, j, k", "b, k, j") ", " MAP("b, i, j, k",
                                                                                     "b, i, j"),
             "%a, %b : tensor<?x70x33xbf16>, tensor<?x33x50xbf16>", "tensor<?x70x50xf32>"),
    CONTRACT("contract_pairs_turned", "%a: tensor<33x70xbf16>, %b: tensor<?x33xbf16>",
             DIM("m", "b", "0", "tensor<?x33xbf16>"), "f32", "[%m]",
             MAP("i, j, k", "k, i") ", " MAP("i, j, k", "j, k") ", " MAP("i, j, k", "i, j"),
             "%a, %b : tensor<33x70xbf16>, tensor<?x33xbf16>", "tensor<70x?xf32>"),
    CONTRACT("contract_pairs_open_depth", "%a: tensor<40x?xbf16>, %b: tensor<64x?xbf16>", "", "f32",
             "", MAP("i, j, k", "i, k") ", " MAP("i, j, k", "j, k") ", " MAP("i, j, k", "i, j"),
             "%a, %b : tensor<40x?xbf16>, tensor<64x?xbf16>", "tensor<40x64xf32>"),
    CONTRACT("contract_f64", "%a: tensor<?x9x33xf64>, %b: tensor<?x33x10xf64>",
             DIM("m", "a", "0", "tensor<?x9x33xf64>"), "f64", "[%m]",
             MAP("b, i, j, k", "b, i, k") ", " MAP("b, i, j, k", "b, k, j") ", " MAP("b, i, j, k",
                                                                                     "b, i, j"),
             "%a, %b : tensor<?x9x33xf64>, tensor<?x33x10xf64>", "tensor<?x9x10xf64>"),
    {"map_of_comparisons", "%x: tensor<?x?xf32>, %u: tensor<?x?xf32>",
     DIM("m", "x", "0", "tensor<?x?xf32>") DIM(
         "n", "x", "1",
         "tensor<?x?xf32>") "%e = tensor.empty(%m, %n) : tensor<?x?xf32>\n%one = arith.constant "
                            "1.0 : f32\n"
                            "%y = linalg.generic {indexing_maps = [" MAP("i, j", "i, j") ", " MAP(
                                "i, j",
                                "i, j") ", " MAP("i, j",
                                                 "i, j") "], iterator_types = [\"parallel\", "
                                                         "\"parallel\"]} ins(%x, %u : "
                                                         "tensor<?x?xf32>, tensor<?x?xf32>) "
                                                         "outs(%e : tensor<?x?xf32>) {\n"
                                                         "^bb0(%a: f32, %b: f32, %o: f32):\n%0 = "
                                                         "math.exp %a : f32\n%1 = arith.subf %0, "
                                                         "%one : f32\n"
                                                         "%2 = arith.cmpf ogt, %a, %b : f32\n%3 = "
                                                         "arith.select %2, %a, %1 : "
                                                         "f32\nlinalg.yield %3 : "
                                                         "f32\n} -> tensor<?x?xf32>",
     "tensor<?x?xf32>"},
    {"map_rounds_each_step", "%x: tensor<?x?xbf16>",
     DIM("m", "x", "0", "tensor<?x?xbf16>") DIM(
         "n", "x", "1",
         "tensor<?x?xbf16>") "%e = tensor.empty(%m, %n) : tensor<?x?xbf16>\n%t = arith.constant "
                             "1.1015625 : bf16\n"
                             "%y = linalg.generic {indexing_maps = [" MAP("i, j", "i, j") ", " MAP(
                                 "i, j",
                                 "i, j") "], iterator_types = [\"parallel\", \"parallel\"]} ins(%x "
                                         ": tensor<?x?xbf16>) outs(%e : "
                                         "tensor<?x?xbf16>) {\n^bb0(%a: bf16, %o: bf16):\n%0 = "
                                         "arith.mulf %a, %t : bf16\n"
                                         "%1 = arith.subf %0, %a : bf16\nlinalg.yield %1 : bf16\n} "
                                         "-> tensor<?x?xbf16>",
     "tensor<?x?xbf16>", 0},
    CUMULATIVE("sum", "sle", "1", "a, j, c", "7", "f32", "0.0", "arith.addf"),
    CUMULATIVE("sum_of_rows", "sle", "2", "a, b, j", "7", "f32", "0.0", "arith.addf"),
    CUMULATIVE("sum_before", "slt", "1", "a, j, c", "7", "f32", "0.0", "arith.addf"),
    CUMULATIVE("sum_of_rows_before", "slt", "2", "a, b, j", "7", "f32", "0.0", "arith.addf"),
    CUMULATIVE("sum_from_behind", "sge", "0", "j, b, c", "7", "f32", "0.0", "arith.addf"),
    CUMULATIVE("sum_behind", "sgt", "2", "a, b, j", "7", "f32", "0.0", "arith.addf"),
    CUMULATIVE("sum_of_fewer", "sle", "2", "a, b, j", "9", "f32", "0.0", "arith.addf"),
    CUMULATIVE("sum_of_more", "slt", "2", "a, b, j", "5", "f32", "0.0", "arith.addf"),
    CUMULATIVE("sum_of_fewer_behind", "sge", "2", "a, b, j", "9", "f32", "0.0", "arith.addf"),
    CUMULATIVE("sum_of_more_behind", "sgt", "2", "a, b, j", "5", "f32", "0.0", "arith.addf"),
    CUMULATIVE("product", "sle", "1", "a, j, c", "7", "f32", "1.0", "arith.mulf"),
    CUMULATIVE("count", "sle", "1", "a, j, c", "7", "i64", "0", "arith.addi"),
    ACTIVATION("gelu"),
    ACTIVATION("gelu_tanh"),
    ACTIVATION("gelu_quick"),
    ACTIVATION("relu"),
    ACTIVATION("silu"),
    ACTIVATION("tanh"),
    ACTIVATION("sigmoid"),
    ACTIVATION("relu_squared"),
    POOL("mean"),
    POOL("max"),
    POOL("first"),
    POOL("last"),
    ROPE("half", "half", "12", ""),
    ROPE("interleaved", "interleaved", "12", ""),
    ROPE("partial", "half", "8", ""),
    ROPE("linear", "half", "12", "scaling(<linear, factor = 4.0 : f64>)"),
    ROPE("dynamic_short", "half", "12", "scaling(<dynamic, factor = 2.0 : f64, original = 64>)"),
    ROPE("dynamic_long", "half", "12", "scaling(<dynamic, factor = 2.0 : f64, original = 4>)"),
    ROPE("dynamic_two", "half", "2", "scaling(<dynamic, factor = 2.0 : f64, original = 4>)"),
    ROPE("yarn", "half", "12",
         "scaling(<yarn, factor = 4.0 : f64, original = 32, low = 1.0 : f64, high = 32.0 : f64, "
         "attentionFactor = 1.138 : f64>)"),
    ROPE("yarn_exact", "half", "12",
         "scaling(<yarn, factor = 4.0 : f64, original = 32, low = 1.0 : f64, high = 8.0 : f64, "
         "truncate = false>)"),
    ROPE("longrope_short", "half", "4",
         "scaling(<longrope, original = 64, attentionFactor = 1.19 : f64, shortFactors = "
         "[1.0, 1.5], longFactors = [2.0, 8.0]>)"),
    ROPE("longrope_long", "half", "4",
         "scaling(<longrope, original = 4, attentionFactor = 1.19 : f64, shortFactors = [1.0, "
         "1.5], longFactors = [2.0, 8.0]>)"),
    ROPE("llama3", "half", "12",
         "scaling(<llama3, factor = 8.0 : f64, original = 64, low = 1.0 : f64, high = 4.0 : f64>)"),
    {"linear", "%x: tensor<?x?x33xf32>, %w: tensor<17x33xf32>",
     "%y = fovea.linear %x, %w : tensor<?x?x33xf32>, tensor<17x33xf32> -> tensor<?x?x17xf32>",
     "tensor<?x?x17xf32>"},
    {"linear_rows", "%x: tensor<70x33xf32>, %w: tensor<49x33xf32>",
     "%y = fovea.linear %x, %w : tensor<70x33xf32>, tensor<49x33xf32> -> tensor<70x49xf32>",
     "tensor<70x49xf32>"},
    {"linear_no_rows", "%x: tensor<0x33xf32>, %w: tensor<49x33xf32>",
     "%y = fovea.linear %x, %w : tensor<0x33xf32>, tensor<49x33xf32> -> tensor<0x49xf32>",
     "tensor<0x49xf32>"},
    {"linear_chunks", "%x: tensor<1x300x7xf32>, %w: tensor<5x7xf32>",
     "%y = fovea.linear %x, %w : tensor<1x300x7xf32>, tensor<5x7xf32> -> tensor<1x300x5xf32>",
     "tensor<1x300x5xf32>"},
    {"linear_one_row", "%x: tensor<?x1x33xf32>, %w: tensor<130x33xf32>, %b: tensor<130xf32>",
     "%y = fovea.linear %x, %w bias(%b : tensor<130xf32>) : tensor<?x1x33xf32>, tensor<130x33xf32> "
     "-> tensor<?x1x130xf32>",
     "tensor<?x1x130xf32>"},
    {"linear_epilogue",
     "%x: tensor<?x?x33xf32>, %w: tensor<32x33xf32>, %b: tensor<32xf32>, %r: tensor<?x?x32xf32>",
     "%0 = fovea.linear %x, %w bias(%b : tensor<32xf32>) : tensor<?x?x33xf32>, tensor<32x33xf32> "
     "-> tensor<?x?x32xf32>\n"
     "%1 = fovea.activation gelu %0 : tensor<?x?x32xf32>\n"
     "%y = arith.addf %r, %1 : tensor<?x?x32xf32>",
     "tensor<?x?x32xf32>"},
    {"rms_norm_linear", "%x: tensor<?x?x33xf32>, %w: tensor<32x33xf32>",
     "%0 = fovea.rms_norm %x eps(1.0e-5) : tensor<?x?x33xf32>\n"
     "%y = fovea.linear %0, %w : tensor<?x?x33xf32>, tensor<32x33xf32> -> tensor<?x?x32xf32>",
     "tensor<?x?x32xf32>"},
    {"linear_glu", "%x: tensor<?x?x33xf32>, %w: tensor<64x33xf32>",
     "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
     "%m = tensor.dim %x, %c0 : tensor<?x?x33xf32>\n%n = tensor.dim %x, %c1 : tensor<?x?x33xf32>\n"
     "%0 = fovea.linear %x, %w : tensor<?x?x33xf32>, tensor<64x33xf32> -> tensor<?x?x64xf32>\n"
     "%1 = tensor.extract_slice %0[0, 0, 0] [%m, %n, 32] [1, 1, 1] : tensor<?x?x64xf32> to "
     "tensor<?x?x32xf32>\n"
     "%2 = tensor.extract_slice %0[0, 0, 32] [%m, %n, 32] [1, 1, 1] : tensor<?x?x64xf32> to "
     "tensor<?x?x32xf32>\n"
     "%y = fovea.glu silu %1, %2 : tensor<?x?x32xf32>",
     "tensor<?x?x32xf32>"},
    ATTENTION("linear_heads", "?", "%n", "count %n"),
    ATTENTION("linear_heads_one_row", "1", "1", ""),
    {"sum_norm", "%x: tensor<?x?x33xf32>, %u: tensor<?x?x33xf32>, %w: tensor<33xf32>",
     "%0 = arith.addf %x, %u : tensor<?x?x33xf32>\n"
     "%1 = fovea.layer_norm %0 weight(%w : tensor<33xf32>) eps(1.0e-5) : tensor<?x?x33xf32>\n"
     "%y = arith.mulf %1, %0 : tensor<?x?x33xf32>",
     "tensor<?x?x33xf32>"},
    {"embeddings_norm",
     "%x: tensor<?x?xi64>, %t: tensor<6x16xbf16>, %p: tensor<9x16xf32>, %w: tensor<16xf32>",
     "%c1 = arith.constant 1 : index\n%c2 = arith.constant 2 : index\n"
     "%n = tensor.dim %x, %c1 : tensor<?x?xi64>\n%0 = arith.constant 0 : index\n"
     "%b = tensor.dim %x, %0 : tensor<?x?xi64>\n"
     "%1 = fovea.embedding %x, %t : tensor<?x?xi64>, tensor<6x16xbf16> -> tensor<?x?x16xf32>\n"
     "%2 = fovea.positions from %c2 count %n : tensor<1x?xi32>\n"
     "%3 = fovea.position_learned %2, %p : tensor<1x?xi32>, tensor<9x16xf32> -> "
     "tensor<1x?x16xf32>\n"
     "%4 = tensor.collapse_shape %3 [[0, 1], [2]] : tensor<1x?x16xf32> into tensor<?x16xf32>\n"
     "%5 = tensor.empty(%b, %n) : tensor<?x?x16xf32>\n"
     "%6 = linalg.broadcast ins(%4 : tensor<?x16xf32>) outs(%5 : tensor<?x?x16xf32>) dimensions = "
     "[0]\n"
     "%7 = arith.addf %1, %6 : tensor<?x?x16xf32>\n"
     "%y = fovea.layer_norm %7 weight(%w : tensor<16xf32>) eps(1.0e-5) : tensor<?x?x16xf32>",
     "tensor<?x?x16xf32>"},
    {"linear_bias_bf16", "%x: tensor<?x33xf32>, %w: tensor<17x33xbf16>, %b: tensor<17xbf16>",
     "%y = fovea.linear %x, %w bias(%b : tensor<17xbf16>) : tensor<?x33xf32>, tensor<17x33xbf16> "
     "-> tensor<?x17xf32>",
     "tensor<?x17xf32>"},
    {"linear_f16", "%x: tensor<?x33xf32>, %w: tensor<17x33xf16>",
     "%y = fovea.linear %x, %w : tensor<?x33xf32>, tensor<17x33xf16> -> tensor<?x17xf32>",
     "tensor<?x17xf32>"},
    {"linear_f64", "%x: tensor<?x33xf64>, %w: tensor<17x33xf32>",
     "%y = fovea.linear %x, %w : tensor<?x33xf64>, tensor<17x33xf32> -> tensor<?x17xf64>",
     "tensor<?x17xf64>", 1e-14},
    {"linear_to_bf16", "%x: tensor<?x33xbf16>, %w: tensor<17x33xbf16>",
     "%y = fovea.linear %x, %w : tensor<?x33xbf16>, tensor<17x33xbf16> -> tensor<?x17xbf16>",
     "tensor<?x17xbf16>", 4e-3},
    {"linear_bf16_to_f32", "%x: tensor<?x33xbf16>, %w: tensor<17x33xbf16>, %b: tensor<17xf32>",
     "%y = fovea.linear %x, %w bias(%b : tensor<17xf32>) : tensor<?x33xbf16>, tensor<17x33xbf16> "
     "-> tensor<?x17xf32>",
     "tensor<?x17xf32>"},
    {"norm_rounded_linear", "%x: tensor<?x?x33xf32>, %w: tensor<64x33xbf16>",
     "%0 = fovea.rms_norm %x eps(1.0e-5) : tensor<?x?x33xf32>\n"
     "%1 = arith.truncf %0 : tensor<?x?x33xf32> to tensor<?x?x33xbf16>\n"
     "%y = fovea.linear %1, %w : tensor<?x?x33xbf16>, tensor<64x33xbf16> -> tensor<?x?x64xf32>",
     "tensor<?x?x64xf32>", 4e-3},
    {"embedding", "%x: tensor<?x?xi64>, %t: tensor<6x9xbf16>",
     "%y = fovea.embedding %x, %t : tensor<?x?xi64>, tensor<6x9xbf16> -> tensor<?x?x9xf32>",
     "tensor<?x?x9xf32>", 0},
    {"embedding_i32", "%x: tensor<?xi32>, %t: tensor<6x9xf32>",
     "%y = fovea.embedding %x, %t : tensor<?xi32>, tensor<6x9xf32> -> tensor<?x9xf32>",
     "tensor<?x9xf32>", 0},
    {"layer_norm", "%x: tensor<?x?x33xf32>, %w: tensor<33xf32>, %b: tensor<33xf32>",
     "%y = fovea.layer_norm %x weight(%w : tensor<33xf32>) bias(%b : tensor<33xf32>) eps(1.0e-5) : "
     "tensor<?x?x33xf32>",
     "tensor<?x?x33xf32>"},
    {"layer_norm_plain", "%x: tensor<?x33xf32>",
     "%y = fovea.layer_norm %x eps(0.0) : tensor<?x33xf32>", "tensor<?x33xf32>"},
    {"rms_norm", "%x: tensor<?x?x33xf32>, %w: tensor<33xbf16>",
     "%y = fovea.rms_norm %x weight(%w : tensor<33xbf16>) eps(1.0e-5) : tensor<?x?x33xf32>",
     "tensor<?x?x33xf32>"},
    {"rms_norm_offset", "%x: tensor<?x33xf32>, %w: tensor<33xf32>",
     "%y = fovea.rms_norm %x weight(%w : tensor<33xf32>) offset(1.0) eps(1.0e-5) : "
     "tensor<?x33xf32>",
     "tensor<?x33xf32>"},
    {"gated_norm", "%x: tensor<?x?x33xf32>, %u: tensor<?x?x33xf32>, %w: tensor<33xbf16>",
     "%y = fovea.gated_norm %x gate(%u) weight(%w : tensor<33xbf16>) eps(1.0e-6) : "
     "tensor<?x?x33xf32>",
     "tensor<?x?x33xf32>"},
    {"gated_norm_f64", "%x: tensor<?x33xf64>, %u: tensor<?x33xf64>, %w: tensor<33xf64>",
     "%y = fovea.gated_norm %x gate(%u) weight(%w : tensor<33xf64>) eps(1.0e-6) : tensor<?x33xf64>",
     "tensor<?x33xf64>", 1e-14},
    {"sum_gated_norm", "%x: tensor<?x?x33xf32>, %u: tensor<?x?x33xf32>, %w: tensor<33xf32>",
     "%0 = arith.addf %x, %u : tensor<?x?x33xf32>\n"
     "%y = fovea.gated_norm %0 gate(%u) weight(%w : tensor<33xf32>) eps(1.0e-6) : "
     "tensor<?x?x33xf32>",
     "tensor<?x?x33xf32>"},
    {"l2_norm", "%x: tensor<?x33xf32>", "%y = fovea.l2_norm %x eps(1.0e-12) : tensor<?x33xf32>",
     "tensor<?x33xf32>"},
    {"argmax", "%x: tensor<?x?x37xf32>",
     "%y = fovea.argmax %x : tensor<?x?x37xf32> -> tensor<?x?xi64>", "tensor<?x?xi64>"},
    {"argmax_f64", "%x: tensor<?x37xf64>",
     "%y = fovea.argmax %x : tensor<?x37xf64> -> tensor<?xi64>", "tensor<?xi64>"},
    {"argmax_bf16", "%x: tensor<?x37xbf16>",
     "%y = fovea.argmax %x : tensor<?x37xbf16> -> tensor<?xi64>", "tensor<?xi64>"},
    {"argmax_vector", "%x: tensor<37xf32>", "%y = fovea.argmax %x : tensor<37xf32> -> tensor<i64>",
     "tensor<i64>"},
    TOP_K("top_k", "37", "3", "f32"),
    TOP_K("top_k_all", "5", "5", "f32"),
    TOP_K("top_k_f64", "37", "3", "f64"),
    TOP_K("top_k_bf16", "37", "3", "bf16"),
    ROUTE("top_k_groups", "f32", "groups(2 of 4 by 2)", 0),
    ROUTE("top_k_greatest_of_groups", "f32", "groups(3 of 4 by 1)", 0),
    ROUTE("top_k_bias", "f32", "bias(%b : tensor<12xf32>)", 0),
    ROUTE("top_k_route", "f32", "bias(%b : tensor<12xf32>) groups(1 of 2 by 3) normalized", 2e-6),
    ROUTE("top_k_route_bf16", "bf16", "bias(%b : tensor<12xf32>) groups(1 of 2 by 3) normalized",
          4e-3),
    {"equal_offsets", "%x: tensor<?x?xf32>",
     "%c0 = arith.constant 0 : index\n%m = tensor.dim %x, %c0 : tensor<?x?xf32>\n"
     "%y = fovea.equal_offsets %m : tensor<5xi64>",
     "tensor<5xi64>", 0},
    DISPATCH("tokens", "tensor<?x?x3xi64>"),
    DISPATCH("places", "tensor<?x?x3xi64>"),
    DISPATCH("offsets", "tensor<7xi64>"),
    {"gather_rows", "%x: tensor<7x33xf32>, %r: tensor<?x?xi64>",
     "%y = fovea.gather_rows %x rows(%r) : tensor<7x33xf32>, tensor<?x?xi64> -> tensor<?x?x33xf32>",
     "tensor<?x?x33xf32>", 0},
    {"gather_joined_rows", "%x: tensor<2x3x33xbf16>, %r: tensor<?xi32>",
     "%y = fovea.gather_rows %x rows(%r) : tensor<2x3x33xbf16>, tensor<?xi32> -> tensor<?x33xbf16>",
     "tensor<?x33xbf16>", 0},
    {"combine",
     "%x: tensor<7x33xf32>, %r: tensor<?x?x3xi64>, %w: tensor<?x?x3xf32>, %u: tensor<?x?x33xf32>",
     "%0 = fovea.combine %x rows(%r) weights(%w) : tensor<7x33xf32>, tensor<?x?x3xi64>, "
     "tensor<?x?x3xf32> -> tensor<?x?x33xf32>\n%y = arith.addf %0, %u : tensor<?x?x33xf32>",
     "tensor<?x?x33xf32>"},
    {"combine_one_bf16", "%x: tensor<2x3x33xbf16>, %r: tensor<?x1xi64>, %w: tensor<?x1xbf16>",
     "%y = fovea.combine %x rows(%r) weights(%w) : tensor<2x3x33xbf16>, tensor<?x1xi64>, "
     "tensor<?x1xbf16> -> tensor<?x33xbf16>",
     "tensor<?x33xbf16>", 4e-3},
    EXPERTS("linear_experts", "30", "f32", "5", "", 2e-6),
    EXPERTS("linear_experts_bias", "30", "bf16", "5", "bias(%v : tensor<30xf32>)", 2e-6),
    EXPERTS("linear_experts_wide", "600", "f32", "100", "bias(%v : tensor<600xf32>)", 2e-6),
    EXPERTS("linear_experts_scales", "384", "i8", "64", "scales(%v : tensor<384xf32>)", 2e-6),
    EXPERTS("linear_experts_odd_scales", "30", "i8", "5",
            "quantize_rows scales(%v : tensor<30xf32>)", 2e-2),
    EXPERTS("linear_experts_quantized", "384", "i8", "64",
            "quantize_rows scales(%v : tensor<384xf32>)", 2e-2),
    {"linear_experts_gate", "%x: tensor<?x?x33xf32>, %e: tensor<?x?xi64>, %w: tensor<192x33xf32>",
     "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
     "%m = tensor.dim %x, %c0 : tensor<?x?x33xf32>\n%n = tensor.dim %x, %c1 : tensor<?x?x33xf32>\n"
     "%e1 = tensor.expand_shape %e [[0], [1, 2]] output_shape [%m, %n, 1] : tensor<?x?xi64> into "
     "tensor<?x?x1xi64>\n"
     "%t:3 = fovea.dispatch %e1 : tensor<?x?x1xi64> -> tensor<7xi64>\n"
     "%0 = fovea.linear %x, %w experts(%t#2 : tensor<7xi64>) : tensor<?x?x33xf32>, "
     "tensor<192x33xf32> -> tensor<?x?x32xf32>\n"
     "%g = tensor.extract_slice %0[0, 0, 0] [%m, %n, 16] [1, 1, 1] : tensor<?x?x32xf32> to "
     "tensor<?x?x16xf32>\n"
     "%u = tensor.extract_slice %0[0, 0, 16] [%m, %n, 16] [1, 1, 1] : tensor<?x?x32xf32> to "
     "tensor<?x?x16xf32>\n"
     "%y = fovea.glu silu %g, %u : tensor<?x?x16xf32>",
     "tensor<?x?x16xf32>"},
    {"dropout", "%x: tensor<?x?x7xf32>", "%y = fovea.dropout %x rate(0.5) : tensor<?x?x7xf32>",
     "tensor<?x?x7xf32>", 0},
    {"position_learned", "%p: tensor<?x?xi32>, %t: tensor<9x7xf32>",
     "%y = fovea.position_learned %p, %t offset(2) : tensor<?x?xi32>, tensor<9x7xf32> -> "
     "tensor<?x?x7xf32>",
     "tensor<?x?x7xf32>", 0},
    {"position_sinusoidal", "%p: tensor<?x?xi32>",
     "%y = fovea.position_sinusoidal interleaved %p theta(10000.0) : tensor<?x?xi32> -> "
     "tensor<?x?x8xf32>",
     "tensor<?x?x8xf32>"},
    {"position_sinusoidal_halves", "%p: tensor<?x?xi32>",
     "%y = fovea.position_sinusoidal halves %p theta(10000.0) : tensor<?x?xi32> -> "
     "tensor<?x?x8xf32>",
     "tensor<?x?x8xf32>"},
    {"positions", "%x: tensor<?x?xi64>",
     "%c1 = arith.constant 1 : index\n%c7 = arith.constant 7 : index\n%n = tensor.dim %x, %c1 : "
     "tensor<?x?xi64>\n"
     "%y = fovea.positions from %c7 count %n : tensor<1x?xi32>",
     "tensor<1x?xi32>", 0},
    {"alibi_slopes_8", "%x: tensor<1xf32>", "%y = fovea.alibi_slopes : tensor<8xf32>",
     "tensor<8xf32>"},
    {"alibi_slopes_12", "%x: tensor<1xf32>", "%y = fovea.alibi_slopes : tensor<12xf32>",
     "tensor<12xf32>"},
    {"mask_materialize", "%n: tensor<?xi32>",
     "%c3 = arith.constant 3 : index\n%c5 = arith.constant 5 : index\n%c0 = arith.constant 0 : "
     "index\n"
     "%b = tensor.dim %n, %c0 : tensor<?xi32>\n%c = fovea.mask_causal\n%l = fovea.mask_length %n : "
     "tensor<?xi32>\n"
     "%m = fovea.mask_and(%c, %l)\n%y = fovea.mask_materialize %m[%b, %c3, %c5] : "
     "tensor<?x2x?x?xi1>",
     "tensor<?x2x?x?xi1>", 0},
    {"add", "%x: tensor<?x?x7xf32>, %u: tensor<?x?x7xf32>",
     "%y = arith.addf %x, %u : tensor<?x?x7xf32>", "tensor<?x?x7xf32>"},
    {"compare", "%x: tensor<?x?x7xf32>, %u: tensor<?x?x7xf32>",
     "%y = arith.cmpf olt, %x, %u : tensor<?x?x7xf32>", "tensor<?x?x7xi1>", 0},
    {"exp", "%x: tensor<?x?x7xf32>", "%y = math.exp %x : tensor<?x?x7xf32>", "tensor<?x?x7xf32>"},
    {"scale_by_splat", "%x: tensor<?x7xf32>",
     "%c0 = arith.constant 0 : index\n%n = tensor.dim %x, %c0 : tensor<?x7xf32>\n%s = "
     "arith.constant 0.25 : f32\n"
     "%f = tensor.splat %s[%n] : tensor<?x7xf32>\n%y = arith.mulf %x, %f : tensor<?x7xf32>",
     "tensor<?x7xf32>"},
    {"add_constant", "%x: tensor<3xf32>",
     "%c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n%y = arith.addf %x, %c : "
     "tensor<3xf32>",
     "tensor<3xf32>"},
    {"generic_sum", "%x: tensor<?x7xf32>",
     "%c0 = arith.constant 0 : index\n%n = tensor.dim %x, %c0 : tensor<?x7xf32>\n%z = "
     "arith.constant 0.0 : f32\n"
     "%i = tensor.splat %z[%n] : tensor<?xf32>\n%y = linalg.generic {indexing_maps = "
     "[affine_map<(i, j) -> (i, j)>, "
     "affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]} ins(%x : "
     "tensor<?x7xf32>) "
     "outs(%i : tensor<?xf32>) {\n^bb0(%a: f32, %s: f32):\n%t = arith.addf %a, %s : "
     "f32\nlinalg.yield %t : f32\n} -> tensor<?xf32>",
     "tensor<?xf32>"},
    {"returned_argument", "%x: tensor<?x7xf32>",
     "%y = tensor.cast %x : tensor<?x7xf32> to tensor<?x7xf32>", "tensor<?x7xf32>", 0},
    {"returned_slice", "%x: tensor<?x7xf32>",
     "%c0 = arith.constant 0 : index\n%n = tensor.dim %x, %c0 : tensor<?x7xf32>\n"
     "%y = tensor.extract_slice %x[0, 2] [%n, 3] [1, 1] : tensor<?x7xf32> to tensor<?x3xf32>",
     "tensor<?x3xf32>", 0},
};

/// What the first open size of each argument is, and the others.
struct OpenSizes {
  int64_t first = 2, others = 5;
};

/// Numbers of few bits for floats; ids and positions from 0 to 5 for integers.
RuntimeValue makeInput(RankedTensorType type, OpenSizes sizes, std::mt19937_64 &random) {
  SmallVector<int64_t> shape(type.getShape());
  int64_t open = sizes.first, count = 1;
  for (int64_t &size : shape) {
    if (ShapedType::isDynamic(size)) {
      size = open;
      open = sizes.others;
    }
    count *= size;
  }
  std::normal_distribution<double> normal;
  if (isa<FloatType>(type.getElementType())) {
    std::vector<double> reals(count);
    for (double &x : reals)
      x = std::ldexp(std::round(std::ldexp(normal(random), 5)), -5);
    return makeReals(shape, std::move(reals));
  }
  std::vector<int64_t> integers(count);
  for (int64_t &x : integers)
    x = random() % 6;
  return makeIntegers(shape, std::move(integers));
}

class OpGrid : public testing::TestWithParam<std::tuple<OpCase, TilesTo>> {
protected:
  OpGrid()
      : context(makeContext()), handler(context.get(), [](Diagnostic &diagnostic) {
          ADD_FAILURE() << diagnostic.str();
          return success();
        }) {
    const OpCase &op = std::get<0>(GetParam());
    text = std::string("func.func @run(") + op.arguments + ") -> " + op.result +
           " attributes {fovea.entry} {\n" + op.body + "\nreturn %y : " + op.result + "\n}\n";
    module = parseSourceString<ModuleOp>(text, context.get());
  }
  func::FuncOp getFunction() { return module->lookupSymbol<func::FuncOp>("run"); }
  void compile();
  void compare(OpenSizes sizes);

  std::unique_ptr<MLIRContext> context;
  ScopedDiagnosticHandler handler;
  std::string text;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<NativeProgram> program;
};

void OpGrid::compile() {
  ASSERT_TRUE(module) << text;
  std::string error;
  program.reset(); // one at a time: the loader knows objects by name
  program = NativeProgram::compile(*module, error, {.tiles = std::get<1>(GetParam())});
  ASSERT_TRUE(program) << error << text;
}

/// Calls the program and the interpreter with arguments of open sizes `sizes`.
void OpGrid::compare(OpenSizes sizes) {
  const OpCase &op = std::get<0>(GetParam());
  std::string error;
  NoWeights weights;
  Interpreter interpreter(*module, weights);
  std::mt19937_64 random(7);
  std::vector<RuntimeValue> inputs;
  for (Type type : getFunction().getArgumentTypes())
    inputs.push_back(makeInput(cast<RankedTensorType>(type), sizes, random));
  auto expected = interpreter.call("run", inputs);
  ASSERT_TRUE(succeeded(expected));
  (void)metDenormals();
  auto got = program->call("run", inputs, 1, error);
  ASSERT_TRUE(succeeded(got)) << error;
  bool hasDenormals = metDenormals(); // of its own
  auto inParts = program->call("run", inputs, 3, error, Unwritten::Denormal);
  ASSERT_TRUE(succeeded(inParts)) << error;
  EXPECT_EQ(metDenormals(), hasDenormals) << "computes with what nobody has written";
  const Tensor &x = *std::get<TensorRef>(got->front()),
               &y = *std::get<TensorRef>(expected->front()),
               &z = *std::get<TensorRef>(inParts->front());
  ASSERT_EQ(x.shape, y.shape);
  double largest = 0;
  for (int64_t i = 0; i < y.size(); ++i)
    largest = std::max(largest, std::abs(y.at(i).real));
  bool isBool =
      cast<RankedTensorType>(getFunction().getResultTypes()[0]).getElementType().isInteger(1);
  for (int64_t i = 0; i < y.size(); ++i) {
    // The interpreter says i1 as 0 and 1, memory as 0 and not 0.
    EXPECT_EQ(x.at(i).integer != 0, y.at(i).integer != 0) << i;
    if (!isBool)
      EXPECT_EQ(x.at(i).integer, y.at(i).integer) << i;
    bool same = x.at(i).real == y.at(i).real ||
                (std::isnan(x.at(i).real) && std::isnan(y.at(i).real)) ||
                std::abs(x.at(i).real - y.at(i).real) <= op.tolerance * largest;
    EXPECT_TRUE(same) << i << ": got " << x.at(i).real << ", expected " << y.at(i).real;
    EXPECT_TRUE(std::memcmp(x.isReal ? (const void *)&x.reals[i] : &x.integers[i],
                            z.isReal ? (const void *)&z.reals[i] : &z.integers[i], 8) == 0)
        << i << " depends on the number of parts";
  }
}

constexpr OpenSizes kEmptySizes[] = {{0, 5}, {2, 0}, {0, 0}};

TEST_P(OpGrid, agreesWithTheInterpreter) {
  ASSERT_NO_FATAL_FAILURE(compile());
  compare({});
  for (OpenSizes sizes : kEmptySizes) {
    SCOPED_TRACE("open sizes " + std::to_string(sizes.first) + ", " + std::to_string(sizes.others));
    compare(sizes);
  }
}

/// The same sizes of zero, known to the compiler.
TEST_P(OpGrid, agreesWithStaticSizesOfZero) {
  ASSERT_TRUE(module) << text;
  OwningOpRef<ModuleOp> original = std::move(module);
  for (OpenSizes sizes : kEmptySizes) {
    SCOPED_TRACE("sizes " + std::to_string(sizes.first) + ", " + std::to_string(sizes.others));
    module = original->clone();
    func::FuncOp function = getFunction();
    OpBuilder builder(function.getBody());
    for (BlockArgument argument : function.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      SmallVector<int64_t> shape(type.getShape());
      int64_t open = sizes.first;
      for (int64_t &size : shape)
        if (ShapedType::isDynamic(size))
          size = std::exchange(open, sizes.others);
      auto known = RankedTensorType::get(shape, type.getElementType());
      if (known == type)
        continue;
      argument.setType(known);
      auto cast = tensor::CastOp::create(builder, function.getLoc(), type, argument);
      argument.replaceAllUsesExcept(cast, cast);
    }
    function.setFunctionType(
        builder.getFunctionType(function.getBody().getArgumentTypes(), function.getResultTypes()));
    if (llvm::none_of(function.getArgumentTypes(), [](Type type) {
          return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0);
        }))
      continue;
    ASSERT_NO_FATAL_FAILURE(compile());
    compare({});
  }
}

std::string nameCase(const testing::TestParamInfo<OpGrid::ParamType> &info) {
  return std::string(std::get<0>(info.param).name) +
         (std::get<1>(info.param) == TilesTo::Loops ? "_loops" : "_vectors");
}

INSTANTIATE_TEST_SUITE_P(All, OpGrid,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Values(TilesTo::Loops, TilesTo::Vectors)),
                         nameCase);

/// An id outside of the table is reported, not read.
TEST(Fault, isReportedByKernel) {
  std::unique_ptr<MLIRContext> owner = makeContext();
  MLIRContext &context = *owner;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "func.func @run(%x: tensor<?xi64>, %t: tensor<6x9xf32>) -> tensor<?x9xf32> attributes "
      "{fovea.entry} {\n"
      "%y = fovea.embedding %x, %t : tensor<?xi64>, tensor<6x9xf32> -> tensor<?x9xf32>\n"
      "return %y : tensor<?x9xf32>\n}\n",
      &context);
  std::string error;
  std::unique_ptr<NativeProgram> program = NativeProgram::compile(*module, error);
  ASSERT_TRUE(program) << error;
  RuntimeValue table = makeReals({6, 9}, std::vector<double>(54, 1.0));
  for (int64_t bad : {int64_t(6), int64_t(-1), std::numeric_limits<int64_t>::min()}) {
    auto got = program->call("run", {makeIntegers({2}, {0, bad}), table}, 1, error);
    EXPECT_FALSE(succeeded(got)) << bad;
    EXPECT_NE(error.find("embedding"), std::string::npos) << error;
  }
  EXPECT_TRUE(succeeded(program->call("run", {makeIntegers({2}, {0, 5}), table}, 1, error)));
}

/// Operands of different sizes are reported, not read past their ends.
TEST(Fault, isReportedForUnequalSizes) {
  std::unique_ptr<MLIRContext> owner = makeContext();
  MLIRContext &context = *owner;
  for (const char *body :
       {"%y = arith.addf %x, %u : tensor<?xf32>", "%y = fovea.glu silu %x, %u : tensor<?xf32>"}) {
    std::string text =
        std::string("func.func @run(%x: tensor<?xf32>, %u: tensor<?xf32>) -> tensor<?xf32> "
                    "attributes {fovea.entry} {\n") +
        body + "\nreturn %y : tensor<?xf32>\n}\n";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    std::string error;
    std::unique_ptr<NativeProgram> program = NativeProgram::compile(*module, error);
    ASSERT_TRUE(program) << error;
    RuntimeValue two = makeReals({2}, {1, 2}), three = makeReals({3}, {1, 2, 3});
    EXPECT_FALSE(succeeded(program->call("run", {three, two}, 1, error)));
    EXPECT_FALSE(succeeded(program->call("run", {two, three}, 1, error)));
    EXPECT_TRUE(succeeded(program->call("run", {three, three}, 1, error))) << error;
  }
}

/// What a verifier asks of static sizes, the plan asks of open ones: nothing is read past an end.
struct SizeCase {
  const char *name, *arguments, *body, *result;
  std::vector<std::vector<int64_t>> shapes; ///< of arguments that fit
  unsigned argument, axis;                  ///< the size that is varied
  std::vector<int64_t> right;               ///< what it may be; of 0 to 4
};

#define QUERIES "tensor<?x?x2x8xf32>"
#define ATTEND(clauses)                                                                            \
  "%y = fovea.attention %q, %k, %v " clauses " : " QUERIES ", " QUERIES ", " QUERIES " ->"         \
  " " QUERIES
#define OPERANDS "%q: " QUERIES ", %k: " QUERIES ", %v: " QUERIES
#define FITTING {2, 3, 2, 8}, {2, 4, 2, 8}, {2, 4, 2, 8}

const SizeCase kSizeCases[] = {
    {"keys_batch", OPERANDS, ATTEND(""), QUERIES, {FITTING}, 1, 0, {2}},
    {"values_batch", OPERANDS, ATTEND(""), QUERIES, {FITTING}, 2, 0, {2}},
    {"values_length", OPERANDS, ATTEND(""), QUERIES, {FITTING}, 2, 1, {4}},
    {"query_positions",
     OPERANDS ", %p: tensor<?x?xi32>",
     "%m = fovea.mask_causal\n" ATTEND("q_pos(%p : tensor<?x?xi32>) mask(%m)"),
     QUERIES,
     {FITTING, {2, 3}},
     3,
     1,
     {3}},
    {"key_positions_batch",
     OPERANDS ", %p: tensor<?x?xi32>",
     "%m = fovea.mask_causal\n" ATTEND("k_pos(%p : tensor<?x?xi32>) mask(%m)"),
     QUERIES,
     {FITTING, {2, 4}},
     3,
     0,
     {2}},
    {"lengths",
     OPERANDS ", %l: tensor<?xi32>",
     "%m = fovea.mask_length %l : tensor<?xi32>\n" ATTEND("mask(%m)"),
     QUERIES,
     {FITTING, {2}},
     3,
     0,
     {1, 2}},
    {"segments",
     OPERANDS ", %s: tensor<?x?xi32>, %t: tensor<?x?xi32>",
     "%m = fovea.mask_segment %s, %t : tensor<?x?xi32>, tensor<?x?xi32>\n" ATTEND("mask(%m)"),
     QUERIES,
     {FITTING, {2, 3}, {2, 4}},
     4,
     1,
     {4}},
    {"dense_heads",
     OPERANDS ", %d: tensor<?x?x?x?xi1>",
     "%m = fovea.mask_dense %d : tensor<?x?x?x?xi1>\n" ATTEND("mask(%m)"),
     QUERIES,
     {FITTING, {2, 2, 3, 4}},
     3,
     1,
     {1, 2}},
    {"bias_heads",
     OPERANDS ", %b: tensor<?x?x?xf32>",
     ATTEND("score(%b : tensor<?x?x?xf32> by (b, h, i, j) -> (h, i, j)) {\n^bb0(%x: f32, %e: f32, "
            "%bb: index, %h: index, %qp: i32, %kp: i32):\n%z = arith.addf %x, %e : f32\n"
            "fovea.yield %z : f32\n}"),
     QUERIES,
     {FITTING, {2, 3, 4}},
     3,
     0,
     {2}},
    {"bias_keys",
     OPERANDS ", %b: tensor<2x?x?xf32>",
     ATTEND("score(%b : tensor<2x?x?xf32> by (b, h, i, j) -> (h, i, j)) {\n^bb0(%x: f32, %e: f32, "
            "%bb: index, %h: index, %qp: i32, %kp: i32):\n%z = arith.addf %x, %e : f32\n"
            "fovea.yield %z : f32\n}"),
     QUERIES,
     {FITTING, {2, 3, 4}},
     3,
     2,
     {4}},
    {"rope",
     "%x: " QUERIES ", %p: tensor<?x?xi32>",
     "%y = fovea.rope half %x at(%p : tensor<?x?xi32>) dim(8) theta(10000.0) : " QUERIES,
     QUERIES,
     {{2, 3, 2, 8}, {2, 3}},
     1,
     1,
     {3}},
    {"pool",
     "%x: tensor<?x?x7xf32>, %k: tensor<?x?xi64>",
     "%y = fovea.pool mean %x keep(%k : tensor<?x?xi64>) : tensor<?x?x7xf32> -> tensor<?x7xf32>",
     "tensor<?x7xf32>",
     {{2, 3, 7}, {2, 3}},
     1,
     1,
     {3}},
};

class SizeGrid : public testing::TestWithParam<SizeCase> {};

TEST_P(SizeGrid, refusesWhatDoesNotFit) {
  const SizeCase &op = GetParam();
  std::unique_ptr<MLIRContext> context = makeContext();
  std::string text = std::string("func.func @run(") + op.arguments + ") -> " + op.result +
                     " attributes {fovea.entry} {\n" + op.body + "\nreturn %y : " + op.result +
                     "\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
  ASSERT_TRUE(module) << text;
  std::string error;
  std::unique_ptr<NativeProgram> program = NativeProgram::compile(*module, error);
  ASSERT_TRUE(program) << error << text;
  auto types = module->lookupSymbol<func::FuncOp>("run").getArgumentTypes();
  for (int64_t size = 0; size <= 4; ++size) {
    std::vector<RuntimeValue> inputs;
    for (auto [i, type] : llvm::enumerate(types)) {
      std::vector<int64_t> shape = op.shapes[i];
      if (i == op.argument)
        shape[op.axis] = size;
      int64_t count = 1;
      for (int64_t extent : shape)
        count *= extent;
      if (isa<FloatType>(cast<RankedTensorType>(type).getElementType()))
        inputs.push_back(makeReals(shape, std::vector<double>(count, 0.5)));
      else
        inputs.push_back(makeIntegers(shape, std::vector<int64_t>(count, 1)));
    }
    EXPECT_EQ(succeeded(program->call("run", inputs, 1, error)), llvm::is_contained(op.right, size))
        << "size " << size << ": " << error;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SizeGrid, testing::ValuesIn(kSizeCases),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
