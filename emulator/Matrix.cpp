// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync on f16, bf16, tf32, e4m3, e5m2, s8, u8 and f64, dense. Products are exact; sums of f32
// go in the order of k, those of integers are exact. Sparse and four-bit forms are refused.
#include "emulator/Matrix.h"

#include "emulator/Block.h"
#include "emulator/Float.h"

#include <cstdio>

namespace fovea::emulator {

unsigned elementBits(Type type) {
  switch (type) {
  case Type::TF32:
    return 32;
  case Type::F16:
  case Type::BF16:
    return 16;
  default:
    return 8;
  }
}

bool isMultiplicand(Type type) {
  switch (type) {
  case Type::F16:
  case Type::BF16:
  case Type::TF32:
  case Type::E4M3:
  case Type::E5M2:
  case Type::S8:
  case Type::U8:
    return true;
  default:
    return false;
  }
}

bool isByte(Type type) { return type == Type::S8 || type == Type::U8; }

bool fitsMultiplicands(Type a, Type b) {
  if (!isMultiplicand(a) || !isMultiplicand(b))
    return false;
  return a == b || (elementBits(a) == 8 && elementBits(b) == 8 && isByte(a) == isByte(b));
}

void widen(Type type, const uint8_t *from, float *to, unsigned count) {
  uint16_t half;
  uint32_t word;
  switch (type) {
  case Type::F16:
    for (unsigned i = 0; i < count; ++i) {
      std::memcpy(&half, from + 2 * i, 2);
      to[i] = fromF16(half);
    }
    break;
  case Type::BF16:
    for (unsigned i = 0; i < count; ++i) {
      std::memcpy(&half, from + 2 * i, 2);
      to[i] = fromBf16(half);
    }
    break;
  case Type::TF32:
    for (unsigned i = 0; i < count; ++i) {
      std::memcpy(&word, from + 4 * i, 4);
      to[i] = truncateTf32(word);
    }
    break;
  case Type::E4M3:
    for (unsigned i = 0; i < count; ++i)
      to[i] = fromE4M3(from[i]);
    break;
  default:
    for (unsigned i = 0; i < count; ++i)
      to[i] = fromE5M2(from[i]);
    break;
  }
}

namespace {
void widen(Type type, const uint8_t *from, int32_t *to, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    to[i] = type == Type::S8 ? static_cast<int8_t>(from[i]) : from[i];
}
using emulator::widen;

/// The two halves of each of 32 registers, as f32.
template <float (*Widen)(uint16_t)> void halves(const uint32_t *values, float *low, float *high) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    low[lane] = Widen(static_cast<uint16_t>(values[lane]));
    high[lane] = Widen(static_cast<uint16_t>(values[lane] >> 16));
  }
}

/// The usual case of A and B, f16 and bf16: `at(lane, register)` is where two elements go.
template <typename At>
void readHalves(Warp &warp, const std::vector<uint32_t> &registers, Type type, At at) {
  float low[32], high[32];
  for (unsigned r = 0; r < registers.size(); ++r) {
    const uint32_t *values = warp.lanes<uint32_t>(registers[r]);
    if (type == Type::F16)
      halves<fromF16>(values, low, high);
    else
      halves<fromBf16>(values, low, high);
    for (unsigned lane = 0; lane < 32; ++lane) {
      float *to = at(lane, r);
      to[0] = low[lane];
      to[1] = high[lane];
    }
  }
}

template <typename T>
void readA(Warp &warp, const std::vector<uint32_t> &registers, Type type, unsigned k, T *a) {
  if constexpr (std::is_same_v<T, float>)
    if (elementBits(type) == 16)
      return readHalves(warp, registers, type, [=](unsigned lane, unsigned r) {
        return a + (lane / 4 + 8 * (r % 2)) * k + 8 * (r / 2) + 2 * (lane % 4);
      });
  unsigned each = 32 / elementBits(type);
  for (unsigned r = 0; r < registers.size(); ++r) {
    const uint32_t *values = warp.lanes<uint32_t>(registers[r]);
    for (unsigned lane = 0; lane < 32; ++lane)
      widen(type, reinterpret_cast<const uint8_t *>(values + lane),
            a + (lane / 4 + 8 * (r % 2)) * k + 4 * each * (r / 2) + each * (lane % 4), each);
  }
}

template <typename T>
void readB(Warp &warp, const std::vector<uint32_t> &registers, Type type, unsigned k, T *b) {
  if constexpr (std::is_same_v<T, float>)
    if (elementBits(type) == 16)
      return readHalves(warp, registers, type, [=](unsigned lane, unsigned r) {
        return b + lane / 4 * k + 8 * r + 2 * (lane % 4);
      });
  unsigned each = 32 / elementBits(type);
  for (unsigned r = 0; r < registers.size(); ++r) {
    const uint32_t *values = warp.lanes<uint32_t>(registers[r]);
    for (unsigned lane = 0; lane < 32; ++lane)
      widen(type, reinterpret_cast<const uint8_t *>(values + lane),
            b + lane / 4 * k + 4 * each * r + each * (lane % 4), each);
  }
}

struct Product : Details {
  unsigned m = 16, n = 8, k = 16;
  Type d, a, b, c;
  bool saturate = false;
  std::vector<uint32_t> dOffsets, aOffsets, bOffsets, cOffsets;
};

Step multiplyFloats(Warp &warp, const Instruction &in, uint32_t mask) {
  const Product &p = *static_cast<const Product *>(in.details);
  requireWholeWarp(warp, in, mask);
  float a[16 * 32], b[8 * 32], acc[16 * 8];
  readA(warp, p.aOffsets, p.a, p.k, a);
  readB(warp, p.bOffsets, p.b, p.k, b);
  readAccumulators(warp, p.cOffsets, p.c, 8, acc);
  static const MultiplyF32 multiply = findMultiply();
  multiply(acc, a, b, 16, 8, p.k);
  writeAccumulators(warp, p.dOffsets, p.d, 8, acc);
  warp.block.counters.tensorOperations += 2 * 16 * 8 * p.k;
  return Step::Next;
}

Step multiplyIntegers(Warp &warp, const Instruction &in, uint32_t mask) {
  const Product &p = *static_cast<const Product *>(in.details);
  requireWholeWarp(warp, in, mask);
  int32_t a[16 * 32], b[8 * 32];
  readA(warp, p.aOffsets, p.a, p.k, a);
  readB(warp, p.bOffsets, p.b, p.k, b);
  uint32_t results[4][32];
  for (unsigned r = 0; r < 4; ++r) {
    const int32_t *c = warp.lanes<int32_t>(p.cOffsets[r]);
    for (unsigned lane = 0; lane < 32; ++lane) {
      const int32_t *row = a + (lane / 4 + 8 * (r / 2)) * p.k;
      const int32_t *column = b + (2 * (lane % 4) + r % 2) * p.k;
      int64_t sum = c[lane];
      for (unsigned i = 0; i < p.k; ++i)
        sum += int64_t{row[i]} * column[i];
      if (p.saturate)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      results[r][lane] = static_cast<uint32_t>(sum);
    }
  }
  for (unsigned r = 0; r < 4; ++r)
    std::memcpy(warp.lanes<uint32_t>(p.dOffsets[r]), results[r], sizeof(results[r]));
  warp.block.counters.tensorOperations += 2 * 16 * 8 * p.k;
  return Step::Next;
}

/// m8n8k4: a is (g, t), b is (t, g), c and d are (g, 2 t + r).
Step multiplyDoubles(Warp &warp, const Instruction &in, uint32_t mask) {
  const Product &p = *static_cast<const Product *>(in.details);
  requireWholeWarp(warp, in, mask);
  const double *a = warp.lanes<double>(p.aOffsets[0]), *b = warp.lanes<double>(p.bOffsets[0]);
  double results[2][32];
  for (unsigned r = 0; r < 2; ++r) {
    const double *c = warp.lanes<double>(p.cOffsets[r]);
    for (unsigned lane = 0; lane < 32; ++lane) {
      double sum = c[lane];
      for (unsigned i = 0; i < 4; ++i)
        sum = __builtin_fma(a[lane / 4 * 4 + i], b[(2 * (lane % 4) + r) * 4 + i], sum);
      results[r][lane] = sum;
    }
  }
  for (unsigned r = 0; r < 2; ++r)
    std::memcpy(warp.lanes<double>(p.dOffsets[r]), results[r], sizeof(results[r]));
  warp.block.counters.tensorOperations += 2 * 8 * 8 * 4;
  return Step::Next;
}

/// m8n8k4 of f64.
void mmaOfDoubles(Decoder &d, Product &p) {
  auto list = [&](size_t i, size_t count, bool written) {
    std::vector<uint32_t> offsets;
    const Operand &operand = d.operand(i);
    if (operand.kind != Operand::Vector || operand.parts.size() != count)
      d.wrong("expects a vector of ", count, " registers");
    for (const Operand &part : operand.parts)
      offsets.push_back(written ? d.destination(part, 64) : d.source(part, Type::F64));
    return offsets;
  };
  p.aOffsets = list(1, 1, false);
  p.bOffsets = list(2, 1, false);
  p.cOffsets = list(3, 2, false);
  p.dOffsets = list(0, 2, true);
  d.setHandler(multiplyDoubles);
}

/// Whether products of `a` may be summed in these.
bool fitsAccumulators(Type a, Type c, Type d) {
  if (isByte(a))
    return c == Type::S32 && d == Type::S32;
  if ((c != Type::F32 && c != Type::F16) || d != c)
    return false;
  return c != Type::F16 || (a != Type::BF16 && a != Type::TF32);
}

void mma(Decoder &d) {
  d.requireArchitecture(70);
  if (!d.take("sync") || !d.take("aligned") || !d.take("row") || !d.take("col"))
    d.unsupported();
  Product &p = d.addDetails<Product>();
  bool shaped = takeShape(d, p.m, p.n, p.k);
  p.saturate = d.take("satfinite");
  d.takeOneOf({"kind::f8f6f4"});
  p.d = d.firstType();
  p.a = d.firstType();
  p.b = d.firstType();
  p.c = d.firstType();
  d.requireCount(4, 4);
  if (p.m == 8 && p.n == 8 && p.k == 4 && p.a == Type::F64)
    return mmaOfDoubles(d, p);
  bool integers = isByte(p.a);
  unsigned most = 8 * 32 / elementBits(p.a);
  if (!shaped || p.m != 16 || p.n != 8 || !fitsMultiplicands(p.a, p.b) ||
      (p.k != most && p.k != most / 2) || !fitsAccumulators(p.a, p.c, p.d) ||
      (p.saturate && !integers))
    d.unsupported();
  d.requireArchitecture(elementBits(p.a) == 8 && !integers ? 89 : 80);
  unsigned accumulators = p.c == Type::F16 ? 2 : 4;
  p.aOffsets = registerList(d, d.operand(1), p.k == most ? 4 : 2, false);
  p.bOffsets = registerList(d, d.operand(2), p.k == most ? 2 : 1, false);
  p.cOffsets = registerList(d, d.operand(3), accumulators, false);
  p.dOffsets = registerList(d, d.operand(0), accumulators, true);
  d.setHandler(integers ? multiplyIntegers : multiplyFloats);
}
} // namespace

void readFragmentA(Warp &warp, const std::vector<uint32_t> &registers, Type type, unsigned k,
                   float *a) {
  readA(warp, registers, type, k, a);
}
void readFragmentA(Warp &warp, const std::vector<uint32_t> &registers, Type type, unsigned k,
                   int32_t *a) {
  readA(warp, registers, type, k, a);
}

/// Calls `body(register, lane, where its one or two elements stand)`: eight columns after the
/// other.
template <typename Body>
static void eachAccumulator(size_t registers, bool half, unsigned n, float *acc, Body body) {
  for (unsigned i = 0; i < registers; ++i) {
    unsigned group = half ? i / 2 : i / 4, row = half ? 8 * (i % 2) : 8 * (i % 4 / 2);
    for (unsigned lane = 0; lane < 32; ++lane)
      body(i, lane, acc + (lane / 4 + row) * n + 8 * group + 2 * (lane % 4));
  }
}

void readAccumulators(Warp &warp, const std::vector<uint32_t> &registers, Type type, unsigned n,
                      float *acc) {
  bool half = type == Type::F16;
  eachAccumulator(registers.size(), half, n, acc, [&](unsigned i, unsigned lane, float *two) {
    uint32_t bits = warp.lanes<uint32_t>(registers[i])[lane];
    if (half) {
      two[0] = fromF16(static_cast<uint16_t>(bits));
      two[1] = fromF16(static_cast<uint16_t>(bits >> 16));
    } else {
      two[i % 2] = bitsAs<float>(bits);
    }
  });
}

void writeAccumulators(Warp &warp, const std::vector<uint32_t> &registers, Type type, unsigned n,
                       float *acc) {
  bool half = type == Type::F16;
  eachAccumulator(registers.size(), half, n, acc, [&](unsigned i, unsigned lane, const float *two) {
    warp.lanes<uint32_t>(registers[i])[lane] =
        half ? toF16(two[0]) | uint32_t{toF16(two[1])} << 16 : bitsAs<uint32_t>(two[i % 2]);
  });
}

bool takeShape(Decoder &d, unsigned &m, unsigned &n, unsigned &k) {
  for (const std::string &modifier : d.statement->modifiers)
    if (std::sscanf(modifier.c_str(), "m%un%uk%u", &m, &n, &k) == 3) {
      d.take(modifier);
      return true;
    }
  return false;
}

std::vector<uint32_t> registerList(Decoder &d, const Operand &operand, size_t count, bool written) {
  size_t has = operand.kind == Operand::Vector ? operand.parts.size() : 1;
  if (has != count)
    d.wrong("expects a vector of ", count, " registers, got ", has);
  std::vector<uint32_t> offsets;
  for (size_t i = 0; i < count; ++i) {
    const Operand &part = operand.kind == Operand::Vector ? operand.parts[i] : operand;
    offsets.push_back(written
                          ? d.destination(part, 32)
                          : d.source(part, part.kind == Operand::Integer ? Type::B32 : Type::F32));
  }
  return offsets;
}

void requireWholeWarp(Warp &warp, const Instruction &in, uint32_t mask) {
  warp.requireAligned(in, mask);
  if (mask != ~0u)
    warp.fault(__builtin_ctz(mask), "expects all 32 threads of the warp, got lanes ", hex(mask));
}

void addMatrix(DecodeTable &table) {
  table["mma"] = mma;
  addMatrixMoves(table);
}

} // namespace fovea::emulator
