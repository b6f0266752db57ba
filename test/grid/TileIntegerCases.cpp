// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of the tile grid with weights of integers, or of numbers of a table's entries, and their
// scales, in panels as processors and as GPUs have them.
#include "test/grid/TileCase.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <random>

using namespace mlir::fovea;

namespace {
struct IntegerContraction {
  int64_t outputs, depth, tileRows, tileOutputs;
  int bits;          ///< 2, 4, 5, 6 or 8
  int64_t groups;    ///< scales of an output; 0: none
  const char *scale; ///< type of scales
  const char *inputType, *numberType;
  int64_t panel = 16, interleave = 1;          ///< interleave in bytes
  int64_t scalePanel = 0, scaleInterleave = 1; ///< 0: scales in rows
  std::vector<int> table = {};                 ///< of which integers of four bits are numbers
};
} // namespace

static const char *const kKernel = R"mlir(
func.func @kernel(%x: memref<?x$Kx$X>, %w: $W, $SCALES%y: memref<?x$Nxf32>, %part: index, %parts: index) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %tm = arith.constant $TM : index
  %tn = arith.constant $TN : index
  %panels = arith.constant $PANELS : index
  %rows = memref.dim %x, %c0 : memref<?x$Kx$X>
  %xv = tile.view %x axes(0, 1) : memref<?x$Kx$X> -> !tile.view<?x$Kx$X>
  %wv = tile.packed %w : $W -> !tile.view<$Nx$Kx$I>
  $SCALEVIEW
  %yv = tile.view %y axes(0, 1) : memref<?x$Nxf32> -> !tile.view<?x$Nxf32>
  tile.kernel grid(%n) = (%panels) {
    %j = arith.muli %n, %tn : index
    scf.for %i = %c0 to %rows step %tm {
      %a = tile.load %xv[%i, %c0] : !tile.view<?x$Kx$X> -> !tile.tile<$TMx$Kx$X>
      %q = tile.load %wv[%j, %c0] : !tile.view<$Nx$Kx$I> -> !tile.tile<$TNx$Kx$I>
      $LOADSCALES
      %b = tile.dequantize %q $TABLE $WITH : !tile.tile<$TNx$Kx$I>$STYPE -> !tile.tile<$TNx$Kx$F>
      %s = tile.dot %a, %b transpose_b : !tile.tile<$TMx$Kx$X>, !tile.tile<$TNx$Kx$F> -> !tile.tile<$TMx$TNxf32>
      tile.store %s, %yv[%i, %j] : !tile.tile<$TMx$TNxf32>, !tile.view<?x$Nxf32>
    }
  }
  return
}
)mlir";

/// A matrix in panels, padded with zeros.
static Array pack(const Array &matrix, int64_t panel, int64_t interleave) {
  int64_t rows = matrix.shape[0], columns = matrix.shape[1];
  int64_t units = (columns + interleave - 1) / interleave;
  Array result{matrix.type, {(rows + panel - 1) / panel, units, panel}, {}};
  if (interleave != 1)
    result.shape.push_back(interleave);
  result.values.assign(result.shape[0] * units * panel * interleave, 0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      result.values[((r / panel * units + c / interleave) * panel + r % panel) * interleave +
                    c % interleave] = matrix.at(r, c);
  return result;
}

/// A matrix of 2, 5 or 6 bits in panels of 16, as words of four bytes: neighbours k, k + 2, k + 4
/// and k + 6 of eight are bytes of a word, in which the pairs of even and of odd k of all eights of
/// a unit, from the lowest bits on, have as many bits as there are. Of 5 and 6 bits the low four
/// are in words of two pairs each, behind which is one of the rest.
static Array packFewBits(const Array &matrix, int bits) {
  int64_t rows = matrix.shape[0], columns = matrix.shape[1];
  int64_t unit = bits == 5 ? 32 : 16, units = (columns + unit - 1) / unit, words = unit * bits / 32;
  Array result{"i8", {(rows + 15) / 16, units * words, 16, 4}, {}};
  std::vector<uint8_t> bytes(result.shape[0] * units * words * 64, 0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      int code = static_cast<int>(matrix.at(r, c));
      int64_t k = c % unit, pair = k / 8 * 2 + k % 2;
      auto put = [&](int64_t word, int value, int64_t place) {
        int64_t at = ((r / 16 * units + c / unit) * words + word) * 64 + r % 16 * 4 + k % 8 / 2;
        bytes[at] = static_cast<uint8_t>(bytes[at] | value << place);
      };
      if (bits == 2) {
        put(0, code & 3, 2 * pair);
        continue;
      }
      int high = bits - 4;
      put(k / 8, code & 15, 4 * (k % 2));
      put(words - 1, (code >> 4) & ((1 << high) - 1), high * pair);
    }
  for (uint8_t byte : bytes)
    result.values.push_back(static_cast<int8_t>(byte));
  return result;
}

static std::string typeOf(const Array &array) {
  std::string text = "memref<";
  for (int64_t size : array.shape)
    text += std::to_string(size) + "x";
  return text + array.type + ">";
}

/// What bytes of a product stand for is their value, unsigned, less this.
static constexpr int kZeroPoint = 128;

/// The first row is the least, the second the greatest.
static Array makeBytes(std::mt19937_64 &random, std::vector<int64_t> shape) {
  Array result{"i8", std::move(shape), {}};
  for (int64_t r = 0; r < result.shape[0]; ++r)
    for (int64_t c = 0; c < result.shape[1]; ++c)
      result.values.push_back(static_cast<int8_t>(r == 0 ? 0 : r == 1 ? 255 : random() % 256));
  return result;
}

/// Two neighbours of four bits to the byte.
static Array pairNibbles(const Array &integers) {
  Array bytes{"i8", {integers.shape[0], integers.shape[1] / 2}, {}};
  for (size_t i = 0; i < integers.values.size(); i += 2) {
    int low = static_cast<int>(integers.values[i]), high = static_cast<int>(integers.values[i + 1]);
    bytes.values.push_back(static_cast<int8_t>((low & 15) | (high << 4)));
  }
  return bytes;
}

/// The table's entries in place of their numbers, and the table's text.
static std::string lookUp(const std::vector<int> &table, Array &integers) {
  if (table.empty())
    return "";
  for (double &value : integers.values)
    value = table[static_cast<int>(value) & 15];
  std::string text;
  for (int entry : table)
    text += (text.empty() ? "table [" : ", ") + std::to_string(entry);
  return text + "]";
}

static TileCase makeCase(const IntegerContraction &c) {
  auto number = [](int64_t n) { return std::to_string(n); };
  std::mt19937_64 random(c.outputs * 31 + c.depth);
  int64_t most = (1 << (c.bits - 1)) - 1;
  Array integers{"i8", {c.outputs, c.depth}, {}}, scales{c.scale, {c.outputs, c.groups}, {}};
  for (int64_t i = 0; i < c.outputs * c.depth; ++i)
    integers.values.push_back(static_cast<int64_t>(random() % (2 * most + 2)) - most - 1);
  // The least and the greatest meet those of rows: what narrow sums hold at most.
  std::fill_n(integers.values.begin(), c.depth, -most - 1);
  std::fill_n(integers.values.begin() + c.depth, c.depth, most);
  // Powers of two, so that what bf16 cannot hold and sums that f32 cannot do not matter.
  for (int64_t i = 0; i < c.outputs * c.groups; ++i)
    scales.values.push_back(std::ldexp(1.0, -static_cast<int>(random() % 3)));
  bool fewBits = c.bits != 4 && c.bits != 8;
  Array laid = fewBits
                   ? packFewBits(integers, c.bits)
                   : pack(c.bits == 4 ? pairNibbles(integers) : integers, c.panel, c.interleave);
  std::string table = lookUp(c.table, integers);
  Array laidScales = c.scalePanel ? pack(scales, c.scalePanel, c.scaleInterleave) : scales;
  TileCase result;
  result.isOfProcessors = c.inputType == std::string("i8") || fewBits || !c.table.empty();
  result.name = "integers_i" + number(c.bits) + "_" + number(c.groups) + "_scales_" +
                (c.scalePanel ? "" : "in_rows_") + c.scale + "_as_" + c.numberType + "_from_" +
                c.inputType + "_" + number(c.outputs) + "x" + number(c.depth) + "_by_" +
                number(c.tileRows) + "x" + number(c.tileOutputs) + "_panels_" + number(c.panel) +
                "_" + number(c.interleave) +
                (table.empty() ? "" : "_table_to_" + number(c.table[15]));
  llvm::replace(result.name, '-', '_');
  std::string scaleView = c.scalePanel ? "tile.packed %scales" : "tile.view %scales axes(0, 1)";
  bool any = c.groups != 0;
  result.text =
      fill(kKernel,
           {{"N", number(c.outputs)},
            {"K", number(c.depth)},
            {"G", number(c.groups)},
            {"TM", number(c.tileRows)},
            {"TN", number(c.tileOutputs)},
            {"PANELS", number((c.outputs + c.tileOutputs - 1) / c.tileOutputs)},
            {"X", c.inputType},
            {"F", c.numberType},
            {"I", "i" + number(c.bits)},
            {"TABLE", table},
            {"W", typeOf(laid)},
            {"SCALES", any ? "%scales: " + typeOf(laidScales) + ", " : ""},
            {"SCALEVIEW", any ? "%sv = " + scaleView + " : " + typeOf(laidScales) +
                                    " -> !tile.view<$Nx$Gx" + c.scale + ">"
                              : ""},
            {"LOADSCALES", any ? std::string("%f = tile.load %sv[%j, %c0] : !tile.view<$Nx$Gx") +
                                     c.scale + "> -> !tile.tile<$TNx$Gx" + c.scale + ">"
                               : ""},
            {"WITH", any ? "scales(%f)" : ""},
            {"STYPE", any ? std::string(", !tile.tile<$TNx$Gx") + c.scale + ">" : ""}});
  for (int64_t rows : {0, 1, 3, 17, 70}) {
    bool ofBytes = c.inputType == std::string("i8");
    Array x = ofBytes ? makeBytes(random, {rows, c.depth})
                      : makeNumbers(c.inputType, {rows, c.depth}, 1),
          y = makeNumbers("f32", {rows, c.outputs}, 4);
    TileCall call;
    call.before = {x, laid};
    if (any)
      call.before.push_back(laidScales);
    call.after = call.before;
    call.before.push_back(y);
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < c.outputs; ++n) {
        y.at(m, n) = 0;
        for (int64_t k = 0; k < c.depth; ++k)
          y.at(m, n) += (ofBytes ? static_cast<uint8_t>(static_cast<int>(x.at(m, k))) - kZeroPoint
                                 : x.at(m, k)) *
                        integers.at(n, k) * (any ? scales.at(n, k * c.groups / c.depth) : 1.0);
      }
    call.after.push_back(y);
    result.calls.push_back(std::move(call));
  }
  return result;
}

static const std::vector<int> kNonLinear = {-127, -104, -83, -65, -49, -35, -22, -10,
                                            1,    13,   25,  38,  53,  69,  89,  113};
static const std::vector<int> kDoubledE2M1 = {0, 1,  2,  3,  4,  6,  8,  12,
                                              0, -1, -2, -3, -4, -6, -8, -12};

static const IntegerContraction kFewBits[] = {
    // In units of several words: of many rows, of one, of few; and no whole units.
    {40, 96, 64, 32, 5, 3, "f16", "i8", "f32", 16, 4, 16},
    {40, 96, 1, 64, 5, 3, "f16", "i8", "f32", 16, 4, 16},
    {40, 64, 64, 32, 6, 4, "f32", "i8", "f32", 16, 4, 16},
    {40, 64, 1, 64, 6, 4, "f32", "i8", "f32", 16, 4, 16},
    {40, 64, 4, 32, 6, 2, "f32", "i8", "f32", 16, 4, 16},
    {40, 128, 4, 48, 5, 4, "f16", "i8", "f32", 16, 4, 16},
    {40, 96, 64, 32, 2, 6, "f16", "i8", "f32", 16, 4, 16},
    {40, 96, 1, 64, 2, 6, "f16", "i8", "f32", 16, 4, 16},
    {33, 56, 16, 32, 6, 0, "f32", "i8", "f32", 16, 4, 16},
    {33, 64, 8, 32, 6, 8, "f32", "i8", "f32", 16, 4, 16},
    {40, 96, 64, 48, 5, 3, "f16", "f32", "f32", 16, 4, 16},
    {40, 64, 1, 64, 6, 4, "f16", "f32", "f32", 16, 4, 16},
    {40, 64, 4, 64, 2, 4, "f16", "f32", "f32", 16, 4, 16},
    {33, 40, 4, 32, 5, 0, "f32", "f32", "f32", 16, 4, 16},
    {40, 96, 64, 48, 5, 3, "f16", "bf16", "bf16", 16, 4, 16},
    {40, 64, 64, 48, 6, 4, "f16", "bf16", "bf16", 16, 4, 16},
    // Numbers of a table's entries.
    {40, 96, 64, 32, 4, 3, "f16", "i8", "f32", 16, 4, 16, 1, kNonLinear},
    {40, 96, 1, 64, 4, 3, "f16", "i8", "f32", 16, 4, 16, 1, kNonLinear},
    {40, 64, 4, 48, 4, 2, "f16", "i8", "f32", 16, 4, 16, 1, kNonLinear},
    {40, 96, 64, 32, 4, 3, "f32", "i8", "f32", 16, 4, 16, 1, kDoubledE2M1},
    {40, 96, 1, 64, 4, 3, "f32", "i8", "f32", 16, 4, 16, 1, kDoubledE2M1},
    {40, 96, 64, 48, 4, 3, "f16", "f32", "f32", 16, 4, 16, 1, kNonLinear},
    {40, 96, 1, 64, 4, 3, "f16", "f32", "f32", 16, 4, 16, 1, kDoubledE2M1},
    {33, 36, 4, 32, 4, 2, "f32", "f32", "f32", 16, 4, 16, 1, kNonLinear},
    {40, 96, 64, 48, 4, 3, "f16", "bf16", "bf16", 16, 4, 16, 1, kDoubledE2M1},
};

std::vector<TileCase> mlir::fovea::makeIntegerCases() {
  const IntegerContraction kCases[] = {
      // As processors have them.
      {96, 64, 64, 48, 8, 0, "f32", "f32", "bf16"},
      {100, 37, 64, 48, 8, 0, "f32", "f32", "bf16"},
      {100, 96, 1, 128, 8, 0, "f32", "f32", "bf16"},
      {100, 96, 16, 48, 8, 3, "f32", "f32", "f32", 16, 1, 16},
      {96, 64, 64, 48, 4, 2, "f16", "f32", "f32", 16, 1, 16},
      {100, 96, 1, 128, 4, 3, "f16", "f32", "f32", 16, 1, 16},
      {33, 36, 8, 32, 4, 2, "f32", "f32", "f32", 16, 1, 16},
      {40, 38, 16, 32, 4, 0, "f32", "f32", "bf16"},
      {48, 64, 16, 32, 4, 2, "f16", "f32", "f32"},
      {48, 64, 64, 32, 4, 2, "f16", "bf16", "bf16", 16, 1, 16},
      // By inputs of bf16: unpacked to pairs of it where those are multiplied.
      {100, 96, 64, 48, 8, 0, "f32", "bf16", "bf16"},
      {100, 64, 64, 32, 8, 2, "f32", "bf16", "bf16"},
      {100, 96, 64, 48, 4, 3, "f16", "bf16", "bf16", 16, 1, 16},
      {40, 37, 64, 48, 8, 0, "f32", "bf16", "bf16"},
      {40, 38, 64, 48, 4, 0, "f32", "bf16", "bf16"},
      // By bytes: of many rows, whose nibbles are unpacked and whose zero point is summed before,
      // and of one; and depths and groups of no whole words.
      {100, 96, 64, 48, 8, 0, "f32", "i8", "f32", 16, 4},
      {100, 96, 1, 128, 8, 0, "f32", "i8", "bf16", 16, 4},
      {100, 128, 64, 32, 8, 0, "f32", "i8", "bf16", 16, 4},
      {64, 192, 48, 64, 8, 0, "f32", "i8", "bf16", 16, 4},
      {100, 96, 64, 48, 4, 3, "f16", "i8", "f32", 16, 4, 16},
      {100, 96, 1, 128, 4, 3, "f16", "i8", "f32", 16, 4, 16},
      {40, 128, 64, 32, 4, 2, "f16", "i8", "f32", 16, 4, 16},
      {100, 256, 1, 128, 4, 2, "f16", "i8", "f32", 16, 4, 16},
      {40, 72, 8, 32, 8, 6, "f32", "i8", "f32", 16, 4, 16},
      {40, 64, 64, 32, 4, 0, "f32", "i8", "f32", 16, 4},
      {40, 38, 64, 48, 8, 0, "f32", "i8", "f32", 16, 4},
      {33, 36, 16, 32, 4, 2, "f32", "i8", "f32", 16, 4, 16},
      // As processors have integers for all else: words of 32 bits.
      {100, 96, 16, 48, 8, 3, "f32", "f32", "f32", 16, 4, 16},
      {100, 37, 64, 48, 8, 0, "f32", "f32", "bf16", 16, 4},
      {96, 64, 64, 48, 4, 2, "f16", "f32", "f32", 16, 4, 16},
      {100, 96, 1, 128, 4, 3, "f16", "f32", "f32", 16, 4, 16},
      {100, 96, 64, 48, 8, 0, "f32", "bf16", "bf16", 16, 4},
      {100, 64, 64, 32, 8, 2, "f32", "bf16", "bf16", 16, 4, 16},
      {100, 96, 64, 48, 4, 3, "f16", "bf16", "bf16", 16, 4, 16},
      {40, 38, 64, 48, 4, 0, "f32", "bf16", "bf16", 16, 4},
      // As GPUs do: for products by element, by warps, and by warpgroups.
      {100, 96, 1, 64, 8, 0, "f32", "f32", "bf16", 32, 8},
      {100, 96, 1, 128, 4, 3, "f16", "f32", "f32", 32, 8, 32, 8},
      {100, 72, 1, 64, 4, 6, "f16", "bf16", "bf16", 32, 8, 32, 8},
      {100, 224, 1, 64, 8, 0, "f32", "f32", "bf16", 32, 16},
      {100, 224, 1, 128, 4, 7, "f16", "f32", "f32", 32, 16, 32, 1},
      {70, 40, 1, 64, 4, 2, "f16", "f32", "f32", 32, 16, 32, 1},
      {100, 37, 64, 48, 8, 0, "f32", "f32", "bf16", 32, 8},
      {96, 96, 64, 64, 4, 3, "f16", "f32", "f32", 32, 8, 32, 8},
      {100, 96, 64, 64, 8, 0, "f32", "bf16", "bf16", 32, 8},
      {100, 96, 64, 64, 4, 3, "f16", "f16", "f16", 32, 8, 32, 8},
      {96, 96, 64, 64, 4, 3, "f16", "f32", "f32", 32, 16, 32, 1},
      {130, 192, 128, 128, 4, 6, "f16", "bf16", "bf16", 32, 16, 32, 1},
      {130, 192, 128, 128, 8, 0, "f32", "f16", "f16", 32, 16},
      {130, 192, 128, 128, 8, 24, "f32", "bf16", "bf16", 32, 8, 32, 4},
  };
  std::vector<TileCase> cases;
  for (ArrayRef<IntegerContraction> contractions : {ArrayRef(kCases), ArrayRef(kFewBits)})
    for (const IntegerContraction &contraction : contractions)
      cases.push_back(makeCase(contraction));
  return cases;
}
