// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantised matrices of checkpoints: blocks of the integers, scales and zeros that they are packed
// in, and narrow floats times their scales. Refuses an order of inputs whose groups are unequal.
#include "dialects/Fovea/Blocks.h"
#include "dialects/Fovea/Try.h"
#include "mlir/IR/Diagnostics.h"
#include "weights/Elements.h"
#include "weights/Steps.h"
#include "weights/Transpose.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>
#include <array>

using namespace mlir;
using namespace mlir::fovea;

/// All rows of an input; in place if it is stored.
static FailureOr<const char *> readAll(Attribute input, RecipeSource &source,
                                       std::vector<char> &buffer) {
  RankedTensorType type = getTypeOfRecipe(input);
  return readRows(input, source, 0, type.getRank() ? type.getDimSize(0) : 1, buffer);
}

//===-- Orders of inputs ---------------------------------------------------------------------===//

static FailureOr<std::vector<int32_t>> readGroups(Attribute input, RecipeSource &source) {
  std::vector<char> buffer;
  TRY(auto *in, readAll(input, source, buffer));
  std::vector<int32_t> groups(getTypeOfRecipe(input).getDimSize(0));
  std::memcpy(groups.data(), in, groups.size() * sizeof(int32_t));
  return groups;
}

/// The places of inputs, sorted by their groups.
static std::vector<int32_t> sortByGroup(ArrayRef<int32_t> groups) {
  auto all = llvm::seq<int32_t>(0, static_cast<int32_t>(groups.size()));
  std::vector<int32_t> places(all.begin(), all.end());
  llvm::sort(places, [&](int32_t a, int32_t b) {
    return std::pair(groups[a], a) < std::pair(groups[b], b);
  });
  return places;
}

LogicalResult mlir::fovea::evaluate(GroupOrderAttr step, RecipeRows rows) {
  TRY(std::vector<int32_t> groups, readGroups(step.getInput(), rows.source));
  std::vector<int32_t> places = sortByGroup(groups);
  std::memcpy(rows.out, places.data() + rows.first, rows.count * sizeof(int32_t));
  return success();
}

//===-- Integers -----------------------------------------------------------------------------===//

namespace {
/// What the parts of a packed matrix have at each place.
class Packed {
public:
  Packed(UnpackAttr step)
      : packing(step.getPacking()), scaleType(getTypeOfRecipe(step.getScales()).getElementType()),
        format(*getBlockFormat(step.getElementType())), outputs(step.getRecipeType().getDimSize(0)),
        inputs(step.getRecipeType().getDimSize(1)), groups(inputs / format.group),
        each(packing == Packing::Bytes ? 1 : 32 / format.codeBits),
        words(static_cast<int64_t>(llvm::divideCeil(outputs, each))) {}

  /// The code of an output and an input, unsigned, in the lowest bits.
  uint32_t codeAt(int64_t n, int64_t k) const {
    switch (packing) {
    case Packing::Gptq:
    case Packing::GptqV2:
      return wordAt(codes, k / each * outputs + n) >> (k % each * format.codeBits);
    case Packing::Awq:
      return wordAt(codes, k * words + n / each) >> (placeOfAwq(n) * 4);
    case Packing::Rows:
      return wordAt(codes, (n * inputs + k) / each) >> (k % each * format.codeBits);
    default:
      return static_cast<uint8_t>(codes[n * inputs + k]) ^ 0x80u;
    }
  }

  /// The scale of an output in a group, and what is added to its integers, which are less by half
  /// their range than codes.
  void putFactors(int64_t n, int64_t g, char *out) const {
    bool isRowMajor = packing == Packing::Rows || packing == Packing::Bytes;
    int64_t place = isRowMajor ? n * groups + g : g * outputs + n;
    float scale = 0;
    withElement(scaleType, [&](auto element) {
      using Element = decltype(element);
      scale = static_cast<float>(Element::load(scales + place * Element::kSize));
    });
    F32Element::store(scale, out);
    if (format.hasOffsets)
      F32Element::store(static_cast<float>(half() - zeroAt(n, g)) * scale, out + 4);
  }

  int half() const { return 1 << (format.codeBits - 1); }

  const Packing packing;
  const Type scaleType;
  const BlockFormat format;
  const int64_t outputs, inputs, groups;
  const int64_t each, words; ///< of an i32, and these of all outputs
  const char *codes = nullptr, *scales = nullptr, *zeros = nullptr;

private:
  static uint32_t wordAt(const char *words, int64_t place) {
    return loadValue<uint32_t>(words + place * 4);
  }

  /// Where the code of a column is in its word, which has 0, 2, 4, 6, 1, 3, 5 and 7.
  static int64_t placeOfAwq(int64_t n) { return n % 8 / 2 + n % 2 * 4; }

  int zeroAt(int64_t n, int64_t g) const {
    uint32_t mask = (1u << format.codeBits) - 1, bits;
    // What is subtracted before files are written carries from one zero to the next.
    uint32_t ones = format.codeBits == 4 ? 0x11111111 : 0x01010101;
    switch (packing) {
    case Packing::Gptq:
      bits = (wordAt(zeros, g * words + n / each) + ones) >> (n % each * format.codeBits);
      break;
    case Packing::GptqV2:
      bits = wordAt(zeros, g * words + n / each) >> (n % each * format.codeBits);
      break;
    case Packing::Awq:
      bits = wordAt(zeros, g * words + n / each) >> (placeOfAwq(n) * 4);
      break;
    case Packing::Rows:
      bits = wordAt(zeros, n / each * groups + g) >> (n % each * format.codeBits);
      break;
    default:
      bits = static_cast<uint8_t>(zeros[n * groups + g]) ^ 0x80u;
    }
    return static_cast<int>(bits & mask);
  }
};

/// Blocks of some rows.
class BlockRows {
public:
  BlockRows(const Packed &packed, RecipeRows rows)
      : packed(packed), rows(rows), header(packed.format.hasOffsets ? 8 : 4),
        codeBytes(packed.format.bytes - header), rowBytes(packed.groups * packed.format.bytes) {}

  void putFactors() {
    for (int64_t r = 0; r < rows.count; ++r)
      for (int64_t g = 0; g < packed.groups; ++g)
        packed.putFactors(rows.first + r, g, at(r, g) - header);
  }

  /// Codes as they lie, whole words or bytes at a time.
  void copyCodes() {
    const int64_t wordRow = packed.outputs * 4;
    for (int64_t g = 0; g < packed.groups; ++g) {
      if (packed.packing == Packing::Rows || packed.packing == Packing::Bytes)
        for (int64_t r = 0; r < rows.count; ++r)
          std::memcpy(at(r, g), packed.codes + ((rows.first + r) * packed.groups + g) * codeBytes,
                      codeBytes);
      else
        transposeElements(packed.codes + g * (codeBytes / 4) * wordRow + rows.first * 4, wordRow,
                          codeBytes / 4, rows.count, 4, at(0, g), rowBytes);
    }
    if (packed.packing == Packing::Bytes) // have signs
      return;
    const char signs = static_cast<char>(packed.format.codeBits == 4 ? 0x88 : 0x80);
    for (int64_t r = 0; r < rows.count; ++r)
      for (int64_t g = 0; g < packed.groups; ++g)
        for (int64_t i = 0; i < codeBytes; ++i)
          at(r, g)[i] ^= signs;
  }

  /// Codes one by one; `places` are those of inputs, as they will stand.
  void gatherCodes(ArrayRef<int32_t> places) {
    constexpr int64_t kNearRows = 256; // whose blocks stay in the cache
    int64_t group = packed.format.group;
    for (int64_t first = 0; first < rows.count; first += kNearRows)
      for (int64_t k = 0; k < packed.inputs; k += 8 / packed.format.codeBits)
        for (int64_t r = first; r < std::min(first + kNearRows, rows.count); ++r)
          at(r, k / group)[k % group * packed.format.codeBits / 8] =
              byteAt(rows.first + r, k, places);
  }

private:
  char *at(int64_t row, int64_t g) {
    return rows.out + row * rowBytes + g * packed.format.bytes + header;
  }

  char byteAt(int64_t n, int64_t k, ArrayRef<int32_t> places) {
    auto code = [&](int64_t k) { return packed.codeAt(n, places.empty() ? k : places[k]); };
    if (packed.format.codeBits == 8)
      return static_cast<char>(code(k) ^ 0x80);
    return static_cast<char>(((code(k) & 15) | (code(k + 1) & 15) << 4) ^ 0x88);
  }

  const Packed &packed;
  RecipeRows rows;
  const int64_t header, codeBytes, rowBytes;
};
} // namespace

/// The order in which inputs stand; empty for that of the columns.
static FailureOr<std::vector<int32_t>> readPlaces(UnpackAttr step, RecipeSource &source) {
  if (!step.getOrder())
    return std::vector<int32_t>();
  TRY(std::vector<int32_t> groups, readGroups(step.getOrder(), source));
  std::vector<int32_t> places = sortByGroup(groups);
  int64_t group = getBlockFormat(step.getElementType())->group;
  for (auto [i, place] : llvm::enumerate(places))
    if (groups[place] != static_cast<int64_t>(i) / group)
      return emitError(UnknownLoc::get(step.getContext()))
             << "expects " << group << " inputs in each of " << groups.size() / group
             << " groups, got others by " << step.getOrder();
  return places;
}

/// From pairs of neighbours to pairs that are 16 apart, behind their scale.
static void putMxfp4(const char *codes, char scale, char *out) {
  auto code = [&](int i) { return static_cast<uint8_t>(codes[i / 2]) >> (i % 2 * 4) & 15; };
  *out = scale;
  for (int i = 0; i < 16; ++i)
    out[1 + i] = static_cast<char>(code(i) | code(16 + i) << 4);
}

LogicalResult mlir::fovea::evaluate(UnpackAttr step, RecipeRows rows) {
  std::vector<char> codeBuffer, scaleBuffer, zeroBuffer;
  TRY(auto *codes, readAll(step.getCodes(), rows.source, codeBuffer));
  TRY(auto *scales, readAll(step.getScales(), rows.source, scaleBuffer));
  if (step.getPacking() == Packing::Mxfp4) {
    constexpr int64_t kCodes = 16, kBlock = 17;
    int64_t blocks = step.getRecipeType().getDimSize(1) / 32, first = rows.first * blocks;
    for (int64_t i = 0; i < rows.count * blocks; ++i)
      putMxfp4(codes + (first + i) * kCodes, scales[first + i], rows.out + i * kBlock);
    return success();
  }
  TRY(std::vector<int32_t> places, readPlaces(step, rows.source));
  Packed packed(step);
  packed.codes = codes;
  packed.scales = scales;
  if (step.getZeros()) {
    TRY(packed.zeros, readAll(step.getZeros(), rows.source, zeroBuffer));
  }
  BlockRows blocks(packed, rows);
  blocks.putFactors();
  if (places.empty() && packed.packing != Packing::Awq)
    blocks.copyCodes();
  else
    blocks.gatherCodes(places);
  return success();
}

//===-- Narrow floats ------------------------------------------------------------------------===//

/// The numbers of f8E4M3FN.
static std::array<double, 256> makeNumbers() {
  std::array<double, 256> numbers;
  for (int bits = 0; bits < 256; ++bits)
    numbers[bits] =
        llvm::APFloat(llvm::APFloat::Float8E4M3FN(), llvm::APInt(8, bits)).convertToDouble();
  return numbers;
}

LogicalResult mlir::fovea::evaluate(ScaleBlocksAttr step, RecipeRows rows) {
  static const std::array<double, 256> numbers = makeNumbers();
  std::vector<char> buffer, scaleBuffer;
  TRY(auto *in, readRows(step.getInput(), rows.source, rows.first, rows.count, buffer));
  TRY(auto *scales, readAll(step.getScales(), rows.source, scaleBuffer));
  RankedTensorType scaleType = getTypeOfRecipe(step.getScales());
  int64_t columns = step.getRecipeType().getDimSize(1), blocks = scaleType.getDimSize(1);
  auto scaleAt = [&](int64_t block) {
    double scale = 0;
    withElement(scaleType.getElementType(), [&](auto element) {
      using Element = decltype(element);
      scale = Element::load(scales + block * Element::kSize);
    });
    return scale;
  };
  for (int64_t r = 0; r < rows.count; ++r)
    for (int64_t block = 0; block < blocks; ++block) {
      double scale = scaleAt((rows.first + r) / step.getRows() * blocks + block);
      int64_t first = block * step.getColumns();
      int64_t end = std::min(first + step.getColumns(), columns);
      withElement(step.getElementType(), [&](auto element) {
        using Element = decltype(element);
        for (int64_t at = r * columns + first; at < r * columns + end; ++at)
          Element::store(numbers[static_cast<uint8_t>(in[at])] * scale,
                         rows.out + at * Element::kSize);
      });
    }
  return success();
}
