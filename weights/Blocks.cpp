// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bits of GGUF's blocks (ggml, ggml-common.h), of MXFP4's (OCP Microscaling Formats 1.0,
// section 5.3) and of integers'. Every block means something: no bits are refused.
#include "weights/Blocks.h"
#include "dialects/PackedIntegers.h"
#include "weights/Elements.h"

using namespace mlir;
using namespace mlir::fovea;

//===-- Taking apart -------------------------------------------------------------------------===//

namespace {
/// A block, read from its beginning on.
class Reader {
public:
  Reader(const char *block, BlockParts &parts)
      : at(reinterpret_cast<const uint8_t *>(block)), parts(parts) {}

  void read(const BlockFormat &format);

private:
  void read(BlockKind kind);
  void readIntegers(const BlockFormat &format);
  uint16_t half() {
    uint16_t bits = loadValue<uint16_t>(reinterpret_cast<const char *>(at));
    at += 2;
    return bits;
  }
  const uint8_t *take(int64_t bytes) {
    const uint8_t *taken = at;
    at += bytes;
    return taken;
  }
  /// Of what is subtracted, to be added.
  uint16_t negated() { return half() ^ 0x8000; }

  void nibbles(int subtracted);
  void fiveBits(int subtracted);
  void bytes();
  void twoBits();
  void threeBits();
  void scalesOfSixBits(const uint8_t *bits);
  void fourBitsByGroups();
  void fiveBitsByGroups();
  void sixBits();

  const uint8_t *at;
  BlockParts &parts;
};
} // namespace

/// Sixteen low nibbles, then the sixteen high ones.
void Reader::nibbles(int subtracted) {
  const uint8_t *pairs = take(16);
  for (int i = 0; i < 16; ++i) {
    parts.codes[i] = static_cast<int8_t>((pairs[i] & 15) - subtracted);
    parts.codes[16 + i] = static_cast<int8_t>((pairs[i] >> 4) - subtracted);
  }
}

/// The fifth bits of all 32 before the others.
void Reader::fiveBits(int subtracted) {
  uint32_t high = loadValue<uint32_t>(reinterpret_cast<const char *>(take(4)));
  nibbles(0);
  for (int i = 0; i < 32; ++i)
    parts.codes[i] = static_cast<int8_t>((parts.codes[i] | (high >> i & 1) << 4) - subtracted);
}

void Reader::bytes() { std::memcpy(parts.codes.data(), take(32), 32); }

/// A byte holds four numbers that are 32 apart; a group's scale and offset share a byte.
void Reader::twoBits() {
  const uint8_t *scales = take(16), *bits = take(64);
  for (int g = 0; g < 16; ++g) {
    parts.scales[g] = scales[g] & 15;
    parts.offsets[g] = scales[g] >> 4;
  }
  for (int i = 0; i < 256; ++i)
    parts.codes[i] =
        static_cast<int8_t>((bits[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3) - 2);
}

/// As with two bits, with the third ones apart, which are set where nothing is subtracted; scales
/// are 32 greater than what they stand for.
void Reader::threeBits() {
  const uint8_t *high = take(32), *bits = take(64), *scales = take(12);
  for (int i = 0; i < 256; ++i) {
    int low = bits[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
    parts.codes[i] = static_cast<int8_t>(low - (high[i % 32] >> (i / 32) & 1 ? 0 : 4));
  }
  for (int g = 0; g < 16; ++g) {
    int low = g < 8 ? scales[g] & 15 : scales[g - 8] >> 4;
    int upper = scales[8 + g % 4] >> (g / 4 * 2) & 3;
    parts.scales[g] = static_cast<uint16_t>((low | upper << 4) - 32);
  }
}

/// Eight scales and eight offsets: of the last four the upper two bits stand with the first four.
void Reader::scalesOfSixBits(const uint8_t *bits) {
  for (int g = 0; g < 4; ++g) {
    parts.scales[g] = bits[g] & 63;
    parts.offsets[g] = bits[4 + g] & 63;
    parts.scales[4 + g] = static_cast<uint16_t>((bits[8 + g] & 15) | bits[g] >> 6 << 4);
    parts.offsets[4 + g] = static_cast<uint16_t>(bits[8 + g] >> 4 | bits[4 + g] >> 6 << 4);
  }
}

/// A byte holds two numbers that are 32 apart. Codes in panels are less by the bias.
void Reader::fourBitsByGroups() {
  scalesOfSixBits(take(12));
  const uint8_t *bits = take(128);
  for (int i = 0; i < 256; ++i)
    parts.codes[i] =
        static_cast<int8_t>((bits[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15) - 8);
}

void Reader::fiveBitsByGroups() {
  scalesOfSixBits(take(12));
  const uint8_t *high = take(32), *bits = take(128);
  for (int i = 0; i < 256; ++i) {
    int low = bits[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15;
    parts.codes[i] = static_cast<int8_t>((low | (high[i % 32] >> (i / 32) & 1) << 4) - 16);
  }
}

/// Of each half of the block a byte has the low bits of two numbers that are 64 apart, and one has
/// the upper bits of four that are 32 apart.
void Reader::sixBits() {
  const uint8_t *low = take(128), *high = take(64), *scales = take(16);
  for (int i = 0; i < 256; ++i) {
    int half = i / 128, j = i % 128;
    int lower = low[half * 64 + j % 64] >> (j / 64 * 4) & 15;
    int upper = high[half * 32 + j % 32] >> (j / 32 * 2) & 3;
    parts.codes[i] = static_cast<int8_t>((lower | upper << 4) - 32);
  }
  for (int g = 0; g < 16; ++g)
    parts.scales[g] = static_cast<uint16_t>(static_cast<int8_t>(scales[g]));
}

/// Half of 2^(exponent - 127), since the table has doubles; as bf16, which holds the least ones as
/// subnormal numbers.
static uint16_t powerOfTwo(uint8_t exponent) {
  return exponent < 2 ? static_cast<uint16_t>(0x20 << exponent)
                      : static_cast<uint16_t>((exponent - 1) << 7);
}

/// As `#fovea.unpack` gives them: scale, offset, codes.
void Reader::readIntegers(const BlockFormat &format) {
  auto wide = [&] { return loadValue<uint32_t>(reinterpret_cast<const char *>(take(4))); };
  parts.scales[0] = wide();
  if (format.hasOffsets)
    parts.offsets[0] = wide();
  if (format.codeBits == 8) {
    std::memcpy(parts.codes.data(), take(format.elements), format.elements);
    return;
  }
  const uint8_t *pairs = take(format.elements / 2);
  for (int64_t i = 0; i < format.elements; ++i) {
    int code = pairs[i / 2] >> (i % 2 * 4) & 15;
    parts.codes[i] = static_cast<int8_t>((code ^ 8) - 8);
  }
}

void Reader::read(const BlockFormat &format) {
  return isOfIntegers(format.kind) ? readIntegers(format) : read(format.kind);
}

void Reader::read(BlockKind kind) {
  switch (kind) {
  case BlockKind::Q4_0:
    parts.scales[0] = half();
    return nibbles(8);
  case BlockKind::Q4_1:
    parts.scales[0] = half();
    parts.offsets[0] = half();
    return nibbles(8); // the bias
  case BlockKind::Q5_0:
    parts.scales[0] = half();
    return fiveBits(16);
  case BlockKind::Q5_1:
    parts.scales[0] = half();
    parts.offsets[0] = half();
    return fiveBits(16); // the bias
  case BlockKind::Q8_0:
    parts.scales[0] = half();
    return bytes();
  case BlockKind::Q2_K:
    twoBits();
    parts.blockScale = half();
    parts.blockOffset = negated();
    return;
  case BlockKind::Q3_K:
    threeBits();
    parts.blockScale = half();
    return;
  case BlockKind::Q4_K:
    parts.blockScale = half();
    parts.blockOffset = negated();
    return fourBitsByGroups();
  case BlockKind::Q5_K:
    parts.blockScale = half();
    parts.blockOffset = negated();
    return fiveBitsByGroups();
  case BlockKind::Q6_K:
    sixBits();
    parts.blockScale = half();
    return;
  case BlockKind::IQ4_NL:
    parts.scales[0] = half();
    return nibbles(0);
  case BlockKind::MXFP4:
    parts.scales[0] = powerOfTwo(*take(1));
    return nibbles(0);
  case BlockKind::Int4:
  case BlockKind::Int8:
  case BlockKind::Int4Offset:
  case BlockKind::Int8Offset:
    llvm_unreachable("are read by their format");
  }
}

void mlir::fovea::readBlock(const BlockFormat &format, const char *block, BlockParts &parts) {
  Reader(block, parts).read(format);
}

//===-- Numbers ------------------------------------------------------------------------------===//

static float fromHalf(uint32_t bits) {
  return F16Element::load(reinterpret_cast<const char *>(&bits));
}

/// A scale or an offset.
static float toFactor(BlockScale kind, uint32_t bits, uint16_t ofBlock) {
  switch (kind) {
  case BlockScale::F16:
    return fromHalf(bits);
  case BlockScale::BF16:
    return asFloat(bits << 16);
  case BlockScale::F32:
    return asFloat(bits);
  case BlockScale::ByBlock:
    return fromHalf(ofBlock) * static_cast<float>(static_cast<int16_t>(bits));
  }
  llvm_unreachable("all kinds of scales are above");
}

void mlir::fovea::readNumbers(const BlockFormat &format, const char *blocks, int64_t count,
                              float *numbers) {
  BlockParts parts(format);
  for (int64_t first = 0; first < count; first += format.elements, blocks += format.bytes) {
    readBlock(format, blocks, parts);
    for (int64_t i = 0; i < format.elements; ++i) {
      int64_t group = i / format.group;
      float scale = toFactor(format.scale, parts.scales[group], parts.blockScale);
      float number = static_cast<float>(format.getNumber(parts.codes[i])) * scale;
      if (format.hasOffsets)
        number += toFactor(format.scale, parts.offsets[group], parts.blockOffset);
      numbers[first + i] = number;
    }
  }
}

//===-- Panels -------------------------------------------------------------------------------===//

namespace {
/// One row of a panel.
class PanelRow {
public:
  PanelRow(const BlockFormat &format, const BlockPanel &panel, int64_t row, char *out)
      : format(format), panel(panel), row(row), out(out) {}

  void put(int64_t block, const BlockParts &parts) {
    putCodes(block * format.elements, parts);
    bool byBlock = format.scale == BlockScale::ByBlock;
    int64_t groups = format.elements / format.group, first = block * groups;
    int64_t size = getScaleBytes(format.scale);
    for (int64_t g = 0; g < groups; ++g) {
      putBits(panel.scales, first + g, size, parts.scales[g]);
      if (format.hasOffsets)
        putBits(panel.offsets, first + g, size, parts.offsets[g]);
    }
    if (byBlock)
      putBits(panel.blockScales, block, 2, parts.blockScale);
    if (byBlock && format.hasOffsets)
      putBits(panel.blockOffsets, block, 2, parts.blockOffset);
  }

private:
  void putCodes(int64_t first, const BlockParts &parts) {
    switch (format.codeBits) {
    case 2:
      return putCodes<2>(first, parts);
    case 4:
      return putCodes<4>(first, parts);
    case 5:
      return putCodes<5>(first, parts);
    case 6:
      return putCodes<6>(first, parts);
    case 8:
      return putCodes<8>(first, parts);
    default:
      llvm_unreachable("all numbers of bits are above");
    }
  }

  /// The words of a row are a panel's width apart. A block has whole units.
  template <int64_t bits> void putCodes(int64_t first, const BlockParts &parts) {
    constexpr PackedIntegers packed{bits};
    constexpr uint32_t lowMask = (1u << packed.lowBits()) - 1;
    constexpr uint32_t highMask = (1u << packed.highBits()) - 1;
    char *at = out + panel.codes + first * bits / 8 * kStoredPanelWidth + row * 4;
    const int8_t *code = parts.codes.data();
    for (int64_t units = format.elements / packed.unit(); units > 0; --units) {
      uint32_t words[packed.words()] = {};
      for (int64_t k = 0; k < packed.unit(); ++k, ++code) {
        int64_t part = packed.part(k), bit = packed.byte(k) * 8;
        words[packed.lowWord(part)] |= (*code & lowMask) << (bit + packed.lowShift(part));
        if (packed.highBits() > 0)
          words[packed.highWord()] |= (*code >> packed.lowBits() & highMask)
                                      << (bit + packed.highShift(part));
      }
      for (uint32_t word : words) {
        std::memcpy(at, &word, 4); // little endian
        at += kStoredPanelWidth * 4;
      }
    }
  }

  void putBits(int64_t part, int64_t unit, int64_t size, uint32_t bits) {
    std::memcpy(out + part + (unit * kStoredPanelWidth + row) * size, &bits, size); // little endian
  }

  const BlockFormat &format;
  const BlockPanel &panel;
  int64_t row;
  char *out;
};
} // namespace

void mlir::fovea::packBlocks(const BlockFormat &format, const char *in, int64_t rows,
                             int64_t inputs, char *out) {
  BlockPanel panel(format, inputs);
  std::memset(out, 0, panel.bytes);
  BlockParts parts(format);
  for (int64_t row = 0; row < rows; ++row) {
    PanelRow target(format, panel, row, out);
    for (int64_t block = 0; block < panel.blocks; ++block, in += format.bytes) {
      readBlock(format, in, parts);
      target.put(block, parts);
    }
  }
}
