// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes arithmetic, logic, comparison and selection (PTX ISA 9.0, "Integer Arithmetic" to "Logic
// and Shift Instructions"). Rounding modes other than to nearest even are computed lane by lane
// with the processor's mode set.
#include "emulator/Decode.h"
#include "emulator/Warp.h"

#include <cfenv>
#include <cmath>

namespace fovea::emulator {

namespace {
// --- directed rounding
struct Rounded : Details {
  int mode = FE_TONEAREST;
  Alu op = Alu::Add;
  bool ftz = false, sat = false;
};

template <typename T> T compute(Alu op, T x, T y, T z) {
  volatile T a = x, b = y, c = z, result = 0;
  switch (op) {
  case Alu::Add:
    result = a + b;
    break;
  case Alu::Sub:
    result = a - b;
    break;
  case Alu::MulLo:
    result = a * b;
    break;
  case Alu::Div:
    result = a / b;
    break;
  case Alu::Fma:
    result = std::fma(T(a), T(b), T(c));
    break;
  case Alu::Rcp:
    result = T(1) / a;
    break;
  case Alu::Sqrt:
    result = std::sqrt(T(a));
    break;
  default:
    break;
  }
  return result;
}

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
double flushed(double x) { return x; }

template <typename T> Step rounded(Warp &warp, const Instruction &in, uint32_t mask) {
  const Rounded &details = *static_cast<const Rounded *>(in.details);
  const T *a = warp.lanes<T>(in.a), *b = warp.lanes<T>(in.b), *c = warp.lanes<T>(in.c);
  T *d = warp.lanes<T>(in.d);
  std::fesetround(details.mode);
  forLanes(mask, [&](uint32_t lane) {
    T x = a[lane], y = b[lane], z = c[lane];
    if (details.ftz) {
      x = flushed(x);
      y = flushed(y);
      z = flushed(z);
    }
    T result = compute(details.op, x, y, z);
    if (details.ftz)
      result = flushed(result);
    if (details.sat)
      result = result > T(1) ? T(1) : result > T(0) ? result : T(0);
    d[lane] = result;
  });
  std::fesetround(FE_TONEAREST);
  return Step::Next;
}

/// Takes the modifiers that floats have; sets the handler.
void finishFloat(Decoder &d, AluForm form) {
  int rounding = d.takeOneOf({"rn", "rz", "rm", "rp"});
  form.ftz = d.take("ftz");
  form.sat = d.take("sat");
  form.relu = d.take("relu");
  if (rounding <= 0)
    return d.setAlu(form);
  Rounded &details = d.addDetails<Rounded>();
  details.mode = rounding == 1 ? FE_TOWARDZERO : rounding == 2 ? FE_DOWNWARD : FE_UPWARD;
  details.op = form.op;
  details.ftz = form.ftz;
  details.sat = form.sat;
  if (form.type == Type::F32)
    d.setHandler(rounded<float>);
  else if (form.type == Type::F64)
    d.setHandler(rounded<double>);
}

// --- add, sub, mul, mad, fma, div, rem
template <bool Subtract> void addSub(Decoder &d) {
  if (d.take("cc") || d.statement->opcode == "addc" || d.statement->opcode == "subc") {
    bool reads = d.statement->opcode.back() == 'c';
    bool writes = !reads || d.take("cc");
    Type type = d.lastType();
    if (bitsOf(type) < 32)
      d.unsupported();
    d.takeAlike(type, 2);
    d.in.immediate = d.carry;
    d.in.flags = static_cast<uint8_t>((reads ? 1 : 0) | (writes || d.has("cc") ? 2 : 0));
    return d.setAlu({Subtract ? Alu::SubCarry : Alu::AddCarry, type});
  }
  Type type = d.lastType();
  d.takeAlike(type, 2);
  if (!isFloat(type) && d.take("sat")) {
    if (type != Type::S32)
      d.unsupported();
    return d.setAlu({Subtract ? Alu::SubSat : Alu::AddSat, type});
  }
  finishFloat(d, {Subtract ? Alu::Sub : Alu::Add, type});
}

void mul(Decoder &d) {
  Type type = d.lastType();
  if (isFloat(type)) {
    d.takeAlike(type, 2);
    return finishFloat(d, {Alu::MulLo, type});
  }
  int half = d.takeOneOf({"lo", "hi", "wide"});
  if (half < 0)
    d.wrong("expects mul to say .lo, .hi or .wide");
  d.takeOperands({type, type}, bitsOf(type) * (half == 2 ? 2 : 1));
  d.setAlu({half == 0 ? Alu::MulLo : half == 1 ? Alu::MulHi : Alu::MulWide, type});
}

void mad(Decoder &d) {
  Type type = d.lastType();
  if (isFloat(type)) {
    d.takeAlike(type, 3);
    return finishFloat(d, {Alu::Fma, type});
  }
  int half = d.takeOneOf({"lo", "hi", "wide"});
  if (half < 0)
    d.wrong("expects mad to say .lo, .hi or .wide");
  Type sum = half != 2 ? type : bitsOf(type) == 16 ? Type::B32 : Type::B64;
  d.takeOperands({type, type, sum}, bitsOf(sum));
  d.setAlu({half == 0 ? Alu::MadLo : half == 1 ? Alu::MadHi : Alu::MadWide, type});
}

void fma(Decoder &d) {
  Type type = d.lastType();
  if (!isFloat(type))
    d.unsupported();
  d.takeAlike(type, 3);
  finishFloat(d, {Alu::Fma, type});
}

void div(Decoder &d) {
  Type type = d.lastType();
  d.takeAlike(type, 2);
  if (isFloat(type) && !d.take("approx") && !d.take("full") && !d.has("rn") && !d.has("rz") &&
      !d.has("rm") && !d.has("rp"))
    d.wrong("expects div to say .approx, .full or a rounding mode");
  finishFloat(d, {Alu::Div, type});
}

template <Alu Op, unsigned Sources> void integer(Decoder &d) {
  Type type = d.lastType();
  if (isFloat(type))
    d.unsupported();
  d.takeAlike(type, Sources);
  d.setAlu({Op, type});
}

template <Alu Op> void minMax(Decoder &d) {
  Type type = d.lastType();
  d.takeAlike(type, 2);
  AluForm form{Op, type};
  form.nan = d.take("NaN");
  form.ftz = d.take("ftz");
  form.relu = d.take("relu");
  if (form.relu)
    d.unsupported();
  d.setAlu(form);
}

template <Alu Op> void sign(Decoder &d) {
  Type type = d.lastType();
  d.takeAlike(type, 1);
  AluForm form{Op, type};
  form.ftz = d.take("ftz");
  d.setAlu(form);
}

/// Functions of one operand: rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh.
template <Alu Op> void function(Decoder &d) {
  Type type = d.lastType();
  d.takeAlike(type, 1);
  bool approximate = d.take("approx");
  if (!approximate && Op != Alu::Rcp && Op != Alu::Sqrt)
    d.wrong("expects ", d.statement->opcode, " to say .approx");
  finishFloat(d, {Op, type});
}

// --- bits
template <Alu Op, unsigned Sources> void logic(Decoder &d) {
  Type type = d.lastType();
  if (type == Type::Pred) {
    d.requireCount(Sources + 1, Sources + 1);
    d.in.a = d.predicate(d.operand(1), 1);
    if (Sources > 1)
      d.in.b = d.predicate(d.operand(2), 2);
    d.in.d = d.predicate(d.operand(0));
  } else {
    if (isFloat(type))
      d.unsupported();
    d.takeAlike(type, Sources);
  }
  d.setAlu({Op, type});
}

template <Alu Op> void shift(Decoder &d) {
  Type type = d.lastType();
  d.takeOperands({type, Type::U32}, bitsOf(type));
  d.setAlu({Op, type});
}

void shf(Decoder &d) {
  AluForm form{Alu::Shf, d.lastType()};
  int side = d.takeOneOf({"l", "r"}), mode = d.takeOneOf({"clamp", "wrap"});
  if (side < 0 || mode < 0 || form.type != Type::B32)
    d.unsupported();
  form.left = side == 0;
  form.wrap = mode == 1;
  d.takeAlike(Type::B32, 3);
  d.setAlu(form);
}

void bfe(Decoder &d) {
  Type type = d.lastType();
  d.takeOperands({type, Type::U32, Type::U32}, bitsOf(type));
  d.setAlu({Alu::Bfe, type});
}

void bfi(Decoder &d) {
  Type type = d.lastType();
  d.requireCount(5, 5);
  d.in.a = d.source(d.operand(1), type);
  d.in.b = d.source(d.operand(2), type);
  d.in.c = d.source(d.operand(3), Type::U32);
  d.in.immediate = d.source(d.operand(4), Type::U32);
  d.in.d = d.destination(d.operand(0), bitsOf(type));
  d.setAlu({Alu::Bfi, type});
}

void prmt(Decoder &d) {
  AluForm form{Alu::Prmt, Type::B32};
  if (!d.take("b32"))
    d.unsupported();
  int mode = d.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  form.mode = static_cast<uint8_t>(mode + 1);
  d.takeAlike(Type::B32, 3);
  d.setAlu(form);
}

void lop3(Decoder &d) {
  if (d.lastType() != Type::B32)
    d.unsupported();
  d.requireCount(5, 5);
  d.in.a = d.source(d.operand(1), Type::B32);
  d.in.b = d.source(d.operand(2), Type::B32);
  d.in.c = d.source(d.operand(3), Type::B32);
  d.in.immediate = d.integer(d.operand(4), "table");
  d.in.d = d.destination(d.operand(0), 32);
  d.setAlu({Alu::Lop3, Type::B32});
}

/// popc, clz and bfind count in u32.
template <Alu Op> void countBits(Decoder &d) {
  AluForm form{Op, d.lastType()};
  form.shiftAmount = d.take("shiftamt");
  if (bitsOf(form.type) < 32)
    d.unsupported();
  d.takeOperands({form.type}, 32);
  d.setAlu(form);
}

void dp4a(Decoder &d) {
  AluForm form{Alu::Dp4a, d.firstType()};
  form.source = d.firstType();
  d.takeAlike(Type::B32, 3);
  d.setAlu(form);
}

void mov(Decoder &d);

// --- predicates
void setp(Decoder &d) {
  AluForm form{Alu::Setp, d.lastType()};
  int compare = d.takeOneOf(
      {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (compare < 0) {
    int plain = d.takeOneOf({"lo", "ls", "hi", "hs"});
    if (plain < 0 || isSigned(form.type) || isFloat(form.type))
      d.wrong("expects setp to name a comparison");
    compare = plain + 2;
  }
  form.compare = static_cast<Compare>(compare);
  form.ftz = d.take("ftz");
  d.in.count = static_cast<uint8_t>(d.takeOneOf({"and", "or", "xor"}) + 1);
  d.requireCount(d.in.count ? 4 : 3, d.in.count ? 4 : 3);
  d.in.a = d.source(d.operand(1), form.type);
  d.in.b = d.source(d.operand(2), form.type);
  if (d.in.count)
    d.in.c = d.predicate(d.operand(3), 1);
  const Operand &target = d.operand(0);
  auto optional = [&](const Operand &operand) {
    return operand.kind == Operand::Name && operand.name == "_" ? 0 : d.predicate(operand);
  };
  if (target.kind == Operand::Pair) {
    d.in.d = optional(target.parts[0]);
    d.in.immediate = optional(target.parts[1]);
  } else {
    d.in.d = optional(target);
  }
  d.setAlu(form);
}

void selp(Decoder &d) {
  Type type = d.lastType();
  d.requireCount(4, 4);
  d.in.a = d.source(d.operand(1), type);
  d.in.b = d.source(d.operand(2), type);
  d.in.c = d.predicate(d.operand(3), 1);
  d.in.d = d.destination(d.operand(0), bitsOf(type));
  d.setAlu({Alu::Selp, type});
}

void slct(Decoder &d) {
  AluForm form{Alu::Slct, d.firstType()};
  form.source = d.firstType();
  d.take("ftz");
  d.takeOperands({form.type, form.type, form.source}, bitsOf(form.type));
  d.setAlu(form);
}

void testp(Decoder &d) {
  Type type = d.lastType();
  int kind = d.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (kind < 0)
    d.wrong("expects testp to name a property");
  d.in.width = static_cast<uint8_t>(kind);
  d.requireCount(2, 2);
  d.in.a = d.source(d.operand(1), type);
  d.in.d = d.predicate(d.operand(0));
  d.setAlu({Alu::Testp, type});
}

// --- mov
Step pack(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t parts[4] = {in.a, in.b, in.c, static_cast<uint32_t>(in.immediate)};
  unsigned bytes = in.width;
  uint8_t *target = warp.lanes<uint8_t>(in.d);
  uint8_t result[512];
  for (unsigned part = 0; part < in.count; ++part) {
    const uint8_t *from = warp.lanes<uint8_t>(parts[part]);
    for (unsigned lane = 0; lane < 32; ++lane)
      std::memcpy(result + (lane * in.count + part) * bytes, from + lane * bytes, bytes);
  }
  unsigned all = bytes * in.count;
  forLanes(mask,
           [&](uint32_t lane) { std::memcpy(target + lane * all, result + lane * all, all); });
  return Step::Next;
}

Step unpack(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t parts[4] = {in.a, in.b, in.c, static_cast<uint32_t>(in.immediate)};
  unsigned bytes = in.width, all = bytes * in.count;
  uint8_t from[512];
  std::memcpy(from, warp.lanes<uint8_t>(in.d), 32 * all);
  for (unsigned part = 0; part < in.count; ++part) {
    if (!parts[part]) // _
      continue;
    uint8_t *target = warp.lanes<uint8_t>(parts[part]);
    forLanes(mask, [&](uint32_t lane) {
      std::memcpy(target + lane * bytes, from + lane * all + part * bytes, bytes);
    });
  }
  return Step::Next;
}

Step clockNow(Warp &warp, const Instruction &in, uint32_t mask) {
  forLanes(mask, [&](uint32_t lane) {
    if (in.width == 8)
      warp.lanes<uint64_t>(in.d)[lane] = warp.executed;
    else
      warp.lanes<uint32_t>(in.d)[lane] = static_cast<uint32_t>(warp.executed);
  });
  return Step::Next;
}

void mov(Decoder &d) {
  Type type = d.lastType();
  d.requireCount(2, 2);
  const Operand &to = d.operand(0), &from = d.operand(1);
  if (to.kind == Operand::Vector || from.kind == Operand::Vector) {
    const Operand &vector = to.kind == Operand::Vector ? to : from;
    if ((to.kind == Operand::Vector && from.kind == Operand::Vector) ||
        (vector.parts.size() != 2 && vector.parts.size() != 4))
      d.wrong("expects mov to have one vector of two or four elements");
    unsigned count = static_cast<unsigned>(vector.parts.size()), bits = bitsOf(type) / count;
    Type part = bits == 64 ? Type::B64 : bits == 32 ? Type::B32 : bits == 16 ? Type::B16 : Type::B8;
    if (bits < 16)
      d.unsupported("mov of elements of 8 bits is not supported");
    uint32_t parts[4] = {};
    for (unsigned i = 0; i < count; ++i)
      parts[i] =
          &vector == &to ? d.destination(vector.parts[i], bits) : d.source(vector.parts[i], part);
    d.in.a = parts[0];
    d.in.b = parts[1];
    d.in.c = parts[2];
    d.in.immediate = parts[3];
    d.in.count = static_cast<uint8_t>(count);
    d.in.width = static_cast<uint8_t>(bits / 8);
    if (&vector == &to) {
      d.in.d = d.source(from, type);
      d.setHandler(unpack);
    } else {
      d.in.d = d.destination(to, bitsOf(type));
      d.setHandler(pack);
    }
    return;
  }
  if (type == Type::Pred) {
    d.in.a =
        from.kind == Operand::Integer ? d.constant(32, from.bits ? ~0u : 0u) : d.predicate(from, 1);
    d.in.d = d.predicate(to);
    return d.setAlu({Alu::Mov, type});
  }
  d.in.d = d.destination(to, bitsOf(type));
  if (from.kind == Operand::Name &&
      (from.name == "%clock" || from.name == "%clock64" || from.name == "%globaltimer" ||
       from.name == "%clock_hi" || from.name == "%globaltimer_lo")) {
    d.in.width = static_cast<uint8_t>(bytesOf(type));
    return d.setHandler(clockNow);
  }
  // The address of a parameter is one in its window, where cvta and ld.param find it.
  d.in.a = d.source(from, type);
  if (bitsOf(type) == 128)
    d.unsupported("mov.b128 between registers is not supported");
  d.setAlu({Alu::Mov, type});
}
} // namespace

void addArithmetic(DecodeTable &table) {
  table["mov"] = mov;
  table["add"] = table["addc"] = addSub<false>;
  table["sub"] = table["subc"] = addSub<true>;
  table["mul"] = mul;
  table["mad"] = mad;
  table["fma"] = fma;
  table["div"] = div;
  table["rem"] = integer<Alu::Rem, 2>;
  table["sad"] = integer<Alu::Sad, 3>;
  table["abs"] = sign<Alu::Abs>;
  table["neg"] = sign<Alu::Neg>;
  table["min"] = minMax<Alu::Min>;
  table["max"] = minMax<Alu::Max>;
  table["rcp"] = function<Alu::Rcp>;
  table["sqrt"] = function<Alu::Sqrt>;
  table["rsqrt"] = function<Alu::Rsqrt>;
  table["ex2"] = function<Alu::Ex2>;
  table["lg2"] = function<Alu::Lg2>;
  table["sin"] = function<Alu::Sin>;
  table["cos"] = function<Alu::Cos>;
  table["tanh"] = function<Alu::Tanh>;
  table["copysign"] = [](Decoder &d) {
    Type type = d.lastType();
    d.takeAlike(type, 2);
    d.setAlu({Alu::Copysign, type});
  };
  table["and"] = logic<Alu::And, 2>;
  table["or"] = logic<Alu::Or, 2>;
  table["xor"] = logic<Alu::Xor, 2>;
  table["not"] = logic<Alu::Not, 1>;
  table["cnot"] = integer<Alu::Cnot, 1>;
  table["shl"] = shift<Alu::Shl>;
  table["shr"] = shift<Alu::Shr>;
  table["shf"] = shf;
  table["bfe"] = bfe;
  table["bfi"] = bfi;
  table["prmt"] = prmt;
  table["lop3"] = lop3;
  table["popc"] = countBits<Alu::Popc>;
  table["clz"] = countBits<Alu::Clz>;
  table["bfind"] = countBits<Alu::Bfind>;
  table["brev"] = integer<Alu::Brev, 1>;
  table["dp4a"] = dp4a;
  table["setp"] = setp;
  table["selp"] = selp;
  table["slct"] = slct;
  table["testp"] = testp;
}

} // namespace fovea::emulator
