// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt with all roundings, cvta, isspacep (PTX ISA 9.0, "Data Movement and Conversion
// Instructions"). What is common goes to the vectorised handlers of Alu.h; the rest is computed
// lane by lane: exactly in f64 or in integers of 128 bits, then rounded once.
#include "emulator/Float.h"
#include "emulator/LoadStore.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <optional>

namespace fovea::emulator {

/// A float of 8 bits with `fraction` bits behind the point; all above `largest` become it, whose
/// code is `largestCode`.
static uint8_t toFloat8(float value, int fraction, float largest, uint8_t largestCode) {
  int bias = (1 << (6 - fraction)) - 1, one = 1 << fraction;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (value != value)
    return sign | 0x7f;
  float magnitude = std::fabs(value);
  if (magnitude >= largest)
    return sign | largestCode;
  if (magnitude < std::ldexp(1.0f, 1 - bias)) // denormal: steps of the smallest number
    return sign | static_cast<uint8_t>(std::nearbyint(std::ldexp(magnitude, bias - 1 + fraction)));
  int exponent;
  float part = std::frexp(magnitude, &exponent);                                // in [0.5, 1)
  int steps = static_cast<int>(std::nearbyint(std::ldexp(part, fraction + 1))); // from one to two
  if (steps == 2 * one) {
    steps = one;
    ++exponent;
  }
  int bits = ((exponent - 1 + bias) << fraction) | (steps - one);
  return sign | static_cast<uint8_t>(std::min<int>(bits, largestCode));
}

uint8_t toE4M3(float value) { return toFloat8(value, 3, 448.0f, 0x7e); }
uint8_t toE5M2(float value) { return toFloat8(value, 2, 57344.0f, 0x7b); }

namespace {
enum class Round : uint8_t {
  None,
  Near,
  Zero,
  Down,
  Up,
  NearAway,
  IntNear,
  IntZero,
  IntDown,
  IntUp
};

struct Conversion : Details {
  Type to, from;
  unsigned toBytes = 0, fromBytes = 0; // of the registers
  Round round = Round::None;
  bool sat = false, ftz = false, relu = false, second = false;
};

/// What `narrow` says of a number that is normal before and after, by its bits: nearly all are.
std::optional<double> narrowNormal(double value, int bits, int least, int most, Round mode) {
  constexpr int kFraction = 52, kBias = 1023;
  uint64_t raw = bitsAs<uint64_t>(value), sign = raw & uint64_t{1} << 63, magnitude = raw ^ sign;
  auto exponent = [&] { return static_cast<int>(magnitude >> kFraction) - kBias; };
  if (mode == Round::Down || mode == Round::Up || exponent() < least || exponent() > most)
    return std::nullopt;
  int dropped = kFraction + 1 - bits;
  uint64_t unit = uint64_t{1} << dropped;
  if (mode == Round::NearAway)
    magnitude += unit / 2;
  else if (mode != Round::Zero) // a tie goes to the even one
    magnitude += unit / 2 - 1 + (magnitude >> dropped & 1);
  magnitude &= ~(unit - 1);
  if (exponent() > most)
    return std::nullopt;
  return bitsAs<double>(sign | magnitude);
}

/// `value` rounded to `bits` of mantissa (the leading one too), exponents from `least`; too large
/// becomes infinity or, if the mode says so, the largest number.
double narrow(double value, int bits, int least, int most, Round mode) {
  if (std::optional<double> normal = narrowNormal(value, bits, least, most, mode))
    return *normal;
  if (value == 0 || !std::isfinite(value))
    return value;
  int exponent;
  std::frexp(value, &exponent);
  --exponent;
  int unit = std::max(exponent, least) - (bits - 1);
  double scaled = std::ldexp(value, -unit), result;
  switch (mode) {
  case Round::Zero:
    result = std::trunc(scaled);
    break;
  case Round::Down:
    result = std::floor(scaled);
    break;
  case Round::Up:
    result = std::ceil(scaled);
    break;
  case Round::NearAway:
    result = std::round(scaled);
    break;
  default:
    result = std::nearbyint(scaled);
    break;
  }
  result = std::ldexp(result, unit);
  double largest = std::ldexp(2 - std::ldexp(1.0, 1 - bits), most);
  if (std::fabs(result) > largest) {
    bool stays = mode == Round::Zero || (mode == Round::Down && value > 0) ||
                 (mode == Round::Up && value < 0);
    result = std::copysign(stays ? largest : std::numeric_limits<double>::infinity(), value);
  }
  return result;
}

struct Value {
  double real = 0;
  __int128 whole = 0;
};

Value read(const uint8_t *from, Type type) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytesOf(type));
  Value value;
  switch (type) {
  case Type::F16:
    value.real = fromF16(static_cast<uint16_t>(bits));
    break;
  case Type::BF16:
    value.real = fromBf16(static_cast<uint16_t>(bits));
    break;
  case Type::F32:
    value.real = bitsAs<float>(static_cast<uint32_t>(bits));
    break;
  case Type::F64:
    value.real = bitsAs<double>(bits);
    break;
  default:
    if (isSigned(type)) {
      unsigned unused = 64 - bitsOf(type);
      value.whole = static_cast<int64_t>(bits << unused) >> unused;
    } else {
      value.whole = bits;
    }
  }
  return value;
}

void limits(Type type, __int128 &low, __int128 &high) {
  __int128 one = 1;
  low = isSigned(type) ? -(one << (bitsOf(type) - 1)) : 0;
  high = isSigned(type) ? (one << (bitsOf(type) - 1)) - 1 : (one << bitsOf(type)) - 1;
}

/// Subnormal numbers are zero where .ftz says so.
double flush(const Conversion &c, Type type, double x) {
  return c.ftz && type == Type::F32 && std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
}

/// Rounded to a whole number.
double toWhole(double x, Round round) {
  switch (round) {
  case Round::IntZero:
    return std::trunc(x);
  case Round::IntDown:
    return std::floor(x);
  case Round::IntUp:
    return std::ceil(x);
  default:
    return std::nearbyint(x);
  }
}

/// Between zero and one, where .sat says so; NaN is zero.
double saturate(const Conversion &c, double x) { return c.sat ? x > 1 ? 1 : x > 0 ? x : 0 : x; }

/// Not below zero, where .relu says so; NaN stays.
template <typename T> T rectify(const Conversion &c, T x) {
  return c.relu && !(x > 0) && !std::isnan(x) ? T(0) : x;
}

uint64_t integerToInteger(const Conversion &c, __int128 whole) {
  __int128 low, high;
  limits(c.to, low, high);
  return static_cast<uint64_t>(c.sat ? std::min(std::max(whole, low), high) : whole);
}

uint64_t floatToInteger(const Conversion &c, double x) {
  if (x != x) // PTX ISA, "cvt", on NaN
    return c.from != Type::F64 && bitsOf(c.to) != 64 ? 0 : uint64_t{1} << (bitsOf(c.to) - 1);
  x = toWhole(flush(c, c.from, x), c.round);
  // The bounds are powers of two, the upper one beyond the last number.
  const unsigned bits = bitsOf(c.to);
  const double half = static_cast<double>(uint64_t{1} << (bits - 1));
  const double low = isSigned(c.to) ? -half : 0, high = isSigned(c.to) ? half : 2 * half;
  if (x <= low)
    return isSigned(c.to) ? ~uint64_t{0} << (bits - 1) : 0;
  if (x >= high)
    return ~uint64_t{0} >> (64 - bits + isSigned(c.to));
  return x < 0x1p63 ? static_cast<uint64_t>(static_cast<int64_t>(x)) : static_cast<uint64_t>(x);
}

/// To f32 or f64. Integers of 64 bits do not fit f64: let the processor round, once.
uint64_t integerToWideFloat(const Conversion &c, __int128 whole) {
  int mode = c.round == Round::Zero   ? FE_TOWARDZERO
             : c.round == Round::Down ? FE_DOWNWARD
             : c.round == Round::Up   ? FE_UPWARD
                                      : FE_TONEAREST;
  std::fesetround(mode);
  volatile int64_t s = static_cast<int64_t>(whole);
  volatile uint64_t u = static_cast<uint64_t>(whole);
  volatile float single = isSigned(c.from) ? static_cast<float>(s) : static_cast<float>(u);
  volatile double wide = isSigned(c.from) ? static_cast<double>(s) : static_cast<double>(u);
  std::fesetround(FE_TONEAREST);
  if (c.to == Type::F64)
    return bitsAs<uint64_t>(saturate(c, wide));
  return bitsAs<uint32_t>(static_cast<float>(saturate(c, static_cast<double>(single))));
}

/// As f64 with a sticky bit, from which rounding to 16 bits is right.
double withSticky(__int128 whole) {
  uint64_t magnitude = whole < 0 ? static_cast<uint64_t>(-whole) : static_cast<uint64_t>(whole);
  if (magnitude >> 52)
    magnitude = (magnitude & ~uint64_t{0xffff}) | ((magnitude & 0xffff) ? 0x8000 : 0);
  return whole < 0 ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
}

uint64_t floatToFloat(const Conversion &c, double x) {
  x = flush(c, c.from, x);
  if (c.round >= Round::IntNear)
    x = toWhole(x, c.round);
  x = rectify(c, saturate(c, x));
  switch (c.to) {
  case Type::F64:
    return bitsAs<uint64_t>(x);
  case Type::F32:
    // What is narrower already is as it is.
    return bitsAs<uint32_t>(static_cast<float>(
        flush(c, c.to, c.from == Type::F64 ? narrow(x, 24, -126, 127, c.round) : x)));
  case Type::TF32:
    return bitsAs<uint32_t>(static_cast<float>(narrow(x, 11, -126, 127, c.round)));
  case Type::F16:
    return toF16(static_cast<float>(narrow(x, 11, -14, 15, c.round)));
  case Type::BF16:
    return toBf16(static_cast<float>(narrow(x, 8, -126, 127, c.round)));
  default:
    return 0;
  }
}

/// The bits of the result; only those of the type count.
uint64_t convert(const Conversion &c, Value value) {
  if (isInteger(c.to))
    return isInteger(c.from) ? integerToInteger(c, value.whole) : floatToInteger(c, value.real);
  if (!isInteger(c.from))
    return floatToFloat(c, value.real);
  if (c.to == Type::F32 || c.to == Type::F64)
    return integerToWideFloat(c, value.whole);
  return floatToFloat(c, withSticky(value.whole));
}

Step cvtLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const Conversion &c = *static_cast<const Conversion *>(in.details);
  const uint8_t *a = warp.lanes<uint8_t>(in.a);
  uint8_t *d = warp.lanes<uint8_t>(in.d);
  uint8_t results[256];
  forLanes(mask, [&](uint32_t lane) {
    uint64_t bits = convert(c, read(a + lane * c.fromBytes, c.from));
    unsigned unused = 64 - bitsOf(c.to);
    // A register wider than the type holds the extended value.
    bits = isSigned(c.to) ? static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused)
                          : bits << unused >> unused;
    std::memcpy(results + lane * c.toBytes, &bits, c.toBytes);
  });
  forLanes(mask, [&](uint32_t lane) {
    std::memcpy(d + lane * c.toBytes, results + lane * c.toBytes, c.toBytes);
  });
  return Step::Next;
}

/// Two f32 to one register: a above b.
Step cvtPairLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const Conversion &c = *static_cast<const Conversion *>(in.details);
  const float *a = warp.lanes<float>(in.a), *b = warp.lanes<float>(in.b);
  auto one = [&](float x) -> uint32_t {
    x = rectify(c, x);
    switch (c.to) {
    case Type::F16x2:
      return toF16(static_cast<float>(narrow(x, 11, -14, 15, c.round)));
    case Type::BF16x2:
      return toBf16(static_cast<float>(narrow(x, 8, -126, 127, c.round)));
    case Type::E4M3x2:
      return toE4M3(x);
    default:
      return toE5M2(x);
    }
  };
  unsigned half = bitsOf(c.to) / 2;
  forLanes(mask, [&](uint32_t lane) {
    uint32_t bits = one(a[lane]) << half | one(b[lane]);
    if (half == 8)
      warp.lanes<uint16_t>(in.d)[lane] = static_cast<uint16_t>(bits);
    else
      warp.lanes<uint32_t>(in.d)[lane] = bits;
  });
  return Step::Next;
}

/// Pairs to pairs: f16x2 to and from the eight-bit floats.
Step cvtPackedLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const Conversion &c = *static_cast<const Conversion *>(in.details);
  forLanes(mask, [&](uint32_t lane) {
    if (c.to == Type::F16x2) {
      uint16_t bits = warp.lanes<uint16_t>(in.a)[lane];
      auto one = [&](uint8_t x) {
        return toF16(rectify(c, c.from == Type::E4M3x2 ? fromE4M3(x) : fromE5M2(x)));
      };
      warp.lanes<uint32_t>(in.d)[lane] =
          one(static_cast<uint8_t>(bits)) | uint32_t{one(static_cast<uint8_t>(bits >> 8))} << 16;
    } else {
      uint32_t bits = warp.lanes<uint32_t>(in.a)[lane];
      auto one = [&](uint16_t x) {
        float wide = rectify(c, fromF16(x));
        return c.to == Type::E4M3x2 ? toE4M3(wide) : toE5M2(wide);
      };
      warp.lanes<uint16_t>(in.d)[lane] = static_cast<uint16_t>(
          one(static_cast<uint16_t>(bits)) | one(static_cast<uint16_t>(bits >> 16)) << 8);
    }
  });
  return Step::Next;
}

bool isEightBitPair(Type type) { return type == Type::E4M3x2 || type == Type::E5M2x2; }
bool isFloatPair(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2 || isEightBitPair(type);
}
bool isOneNumber(Type type) {
  return bitsOf(type) <= 64 && type != Type::Pred && type != Type::U16x2 && type != Type::S16x2 &&
         type != Type::F32x2 && type != Type::E4M3 && type != Type::E5M2 && !isFloatPair(type);
}

void setConversion(Decoder &d, const Conversion &c, Handler handler) {
  d.addDetails<Conversion>(c);
  d.setHandler(handler);
}

/// The modifiers; the last two are the types.
Conversion takeConversion(Decoder &d) {
  const auto &modifiers = d.statement->modifiers;
  std::optional<Type> to, from;
  if (modifiers.size() >= 2) {
    to = typeNamed(modifiers[modifiers.size() - 2]);
    from = typeNamed(modifiers.back());
  }
  if (!to || !from)
    d.wrong("expects cvt to end with two types, got '", d.statement->mnemonic(), "'");
  d.lastType();
  d.take(nameOf(*to));
  Conversion c;
  c.to = *to;
  c.from = *from;
  int round = d.takeOneOf({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"});
  c.round = static_cast<Round>(round + 1);
  c.ftz = d.take("ftz");
  c.sat = d.take("sat");
  c.relu = d.take("relu");
  bool eight = isEightBitPair(c.to);
  if (d.take("satfinite") != eight)
    d.unsupported(eight ? "expects .satfinite" : "");
  return c;
}

/// Two f32 to one register.
void cvtToPair(Decoder &d, const Conversion &c) {
  d.takeOperands({Type::F32, Type::F32}, bitsOf(c.to));
  if (c.round != Round::Near || isEightBitPair(c.to))
    return setConversion(d, c, cvtPairLanes);
  AluForm form{Alu::CvtPack, c.to};
  form.relu = c.relu;
  d.setAlu(form);
}

/// Pairs to pairs.
void cvtPacked(Decoder &d, const Conversion &c) {
  bool up = c.to == Type::F16x2 && isEightBitPair(c.from);
  if (!up && !(isEightBitPair(c.to) && c.from == Type::F16x2))
    d.unsupported();
  d.takeOperands({up ? Type::B16 : Type::B32}, up ? 32 : 16);
  setConversion(d, c, cvtPackedLanes);
}

/// The bytes of an operand's register, which may be wider than the type.
unsigned registerBytes(Decoder &d, const Operand &operand, Type type) {
  unsigned bits = std::max(16u, bitsOf(type));
  auto has = d.registerBits(operand);
  if (!has)
    return bits / 8;
  if (*has < bits || *has > 64 || *has == 1)
    d.wrong("expects a register of at least ", bits, " bits for .", nameOf(type), ", got ",
            operand.name, " of ", *has);
  return *has / 8;
}

/// The fast form of a conversion that only rounds to nearest, to tf32, or to a whole number
/// towards zero; null if it is none.
Handler findPlain(const Conversion &c) {
  bool exact = c.fromBytes == bytesOf(c.from) && c.toBytes == bytesOf(c.to);
  if (!exact || c.sat || c.ftz || c.relu)
    return nullptr;
  if (c.from == Type::F32 && c.to == Type::TF32 && c.round == Round::NearAway)
    return findAlu({Alu::CvtTf32, c.to});
  bool truncates = isFloat(c.from) && isInteger(c.to);
  if (truncates ? c.round != Round::IntZero : c.round != Round::None && c.round != Round::Near)
    return nullptr;
  AluForm form{truncates ? Alu::CvtTrunc : Alu::CvtRn, c.to};
  form.source = c.from;
  return findAlu(form);
}

void cvtOne(Decoder &d, Conversion c) {
  d.requireCount(2, 2);
  if (!isOneNumber(c.to) || !isOneNumber(c.from))
    d.unsupported();
  if (isFloat(c.from) && isInteger(c.to) && c.round < Round::IntNear)
    d.wrong("expects cvt from a float to an integer to round by .rni, .rzi, .rmi or .rpi");
  c.fromBytes = registerBytes(d, d.operand(1), c.from);
  c.toBytes = registerBytes(d, d.operand(0), c.to);
  if (d.registerBits(d.operand(1)))
    d.in.a = d.registerOffset(d.operand(1), false);
  else
    d.in.a = d.source(d.operand(1), c.from);
  d.in.d = d.registerOffset(d.operand(0), true);
  if (Handler handler = findPlain(c))
    return d.setHandler(handler);
  setConversion(d, c, cvtLanes);
}

void cvt(Decoder &d) {
  Conversion c = takeConversion(d);
  if (!isFloatPair(c.to))
    return cvtOne(d, c);
  c.from == Type::F32 ? cvtToPair(d, c) : cvtPacked(d, c);
}

// --- addresses
Step addWindow(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint64_t *a = warp.lanes<uint64_t>(in.a);
  uint64_t *d = warp.lanes<uint64_t>(in.d);
  forLanes(mask, [&](uint32_t lane) { d[lane] = a[lane] + static_cast<uint64_t>(in.immediate); });
  return Step::Next;
}

uint64_t windowOf(Space space) {
  return space == Space::Shared  ? sharedWindow
         : space == Space::Local ? localWindow
         : space == Space::Param ? parameterWindow
                                 : 0;
}

void cvta(Decoder &d) {
  bool to = d.take("to");
  Space space = d.takeSpace();
  Type type = d.lastType();
  if (space == Space::Generic || bitsOf(type) != 64)
    d.unsupported();
  d.takeOperands({type}, 64);
  uint64_t window = windowOf(space);
  d.in.immediate = static_cast<int64_t>(to ? -window : window);
  d.setHandler(addWindow);
}

Step isSpace(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint64_t *a = warp.lanes<uint64_t>(in.a);
  forLanes(mask, [&](uint32_t lane) {
    uint64_t address = a[lane];
    bool inside = resolve(address) == static_cast<Space>(in.width);
    warp.setPredicate(in.d, 1u << lane, inside ? 1u << lane : 0);
  });
  return Step::Next;
}

void isspacep(Decoder &d) {
  Space space = d.takeSpace();
  if (space == Space::Generic || space == Space::Const)
    d.unsupported();
  d.requireCount(2, 2);
  d.in.a = d.source(d.operand(1), Type::U64);
  d.in.d = d.predicate(d.operand(0));
  d.in.width = static_cast<uint8_t>(space);
  d.setHandler(isSpace);
}

/// The address of this block's own shared memory in its cluster of one block.
void mapa(Decoder &d) {
  d.takeSpace();
  Type type = d.lastType();
  d.requireCount(3, 3);
  d.in.a = d.source(d.operand(1), type);
  d.in.d = d.destination(d.operand(0), bitsOf(type));
  if (d.isConstant(d.operand(2)) && d.operand(2).bits)
    d.unsupported("clusters of several blocks are not supported");
  d.setAlu({Alu::Mov, type});
}
} // namespace

void addConversion(DecodeTable &table) {
  table["cvt"] = cvt;
  table["cvta"] = cvta;
  table["isspacep"] = isspacep;
  table["mapa"] = mapa;
}

} // namespace fovea::emulator
