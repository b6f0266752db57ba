// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One case for each form of the scalar instructions, on corner values and random ones, against a
// formula in C++.
#include "emulator/Float.h"
#include "test/unit/emulator/Kernels.h"

#include <cmath>
#include <random>

namespace fovea::emulator::test {
namespace {

std::vector<Words> inputs() {
  const uint32_t corners[] = {
      0,          1,          2,          31,         32,         33,         0x7f,
      0x80,       0xff,       0x7fff,     0x8000,     0xffff,     0x7fffffff, 0x80000000,
      0xffffffff, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
      0x80000001, 0x00800000, 0x40490fdb, 0x3c003c00, 0xfbff7bff};
  std::mt19937 random(7);
  std::vector<Words> all;
  for (int i = 0; i < 1024; ++i) {
    Words words;
    for (uint32_t &word : words)
      word = random() % 3 ? random() : corners[random() % std::size(corners)];
    all.push_back(words);
  }
  return all;
}

float f(uint32_t bits) { return bitsAs<float>(bits); }
uint32_t u(float value) { return bitsAs<uint32_t>(value); }
uint64_t pair(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }
double dbl(uint32_t low, uint32_t high) { return bitsAs<double>(pair(low, high)); }

struct Form {
  const char *body; // to %r10, or to %d10 if `wide`
  std::function<uint64_t(uint32_t, uint32_t, uint32_t, uint32_t)> expected;
  bool wide = false;
  enum { Bits, Single, Double } compare = Bits; // floats: any NaN equals any
};

void check(const std::vector<Form> &forms) {
  const std::vector<Words> in = inputs();
  for (const Form &form : forms) {
    std::vector<uint64_t> out;
    try {
      out = lanes(form.body, in, form.wide);
    } catch (const Error &error) {
      ADD_FAILURE() << form.body << ": " << error.what();
      continue;
    }
    for (size_t i = 0; i < in.size(); ++i) {
      auto [a, b, c, d] = in[i];
      uint64_t expected = form.expected(a, b, c, d);
      if (!form.wide)
        expected = static_cast<uint32_t>(expected);
      bool equal = out[i] == expected;
      if (form.compare == Form::Single)
        equal |= std::isnan(f(static_cast<uint32_t>(expected))) &&
                 std::isnan(f(static_cast<uint32_t>(out[i])));
      if (form.compare == Form::Double)
        equal |= std::isnan(bitsAs<double>(expected)) && std::isnan(bitsAs<double>(out[i]));
      ASSERT_TRUE(equal) << form.body << "\n  of " << hex(a) << " " << hex(b) << " " << hex(c)
                         << " " << hex(d) << " expects " << hex(expected) << ", got "
                         << hex(out[i]);
    }
  }
}

int32_t s(uint32_t x) { return static_cast<int32_t>(x); }
int64_t sl(uint64_t x) { return static_cast<int64_t>(x); }
using W = unsigned __int128;
using SW = __int128;

TEST(Scalar, Integers) {
  check({
      {"add.s32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return a + b; }},
      {"add.s32 %r10, %r1, -5;", [](auto a, auto, auto, auto) { return a - 5; }},
      {"add.sat.s32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) {
         int64_t t = int64_t{s(a)} + s(b);
         return uint32_t(std::min<int64_t>(std::max<int64_t>(t, INT32_MIN), INT32_MAX));
       }},
      {"sub.u32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return a - b; }},
      {"sub.sat.s32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) {
         int64_t t = int64_t{s(a)} - s(b);
         return uint32_t(std::min<int64_t>(std::max<int64_t>(t, INT32_MIN), INT32_MAX));
       }},
      {"add.s64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) { return pair(a, b) + pair(c, d); }, true},
      {"sub.s64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) { return pair(a, b) - pair(c, d); }, true},
      {"mov.b32 {%h1, %h2}, %r1; add.u16 %h3, %h1, %h2; cvt.u32.u16 %r10, %h3;",
       [](auto a, auto, auto, auto) { return uint16_t(a + (a >> 16)); }},
      {"add.cc.u32 %r10, %r1, %r3; addc.u32 %r11, %r2, %r4; mov.b64 %d10, {%r10, %r11};",
       [](auto a, auto b, auto c, auto d) { return pair(a, b) + pair(c, d); }, true},
      {"sub.cc.u32 %r10, %r1, %r3; subc.u32 %r11, %r2, %r4; mov.b64 %d10, {%r10, %r11};",
       [](auto a, auto b, auto c, auto d) { return pair(a, b) - pair(c, d); }, true},
      {"mul.lo.s32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return a * b; }},
      {"mul.hi.u32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) { return uint64_t{a} * b >> 32; }},
      {"mul.hi.s32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) { return uint64_t(int64_t{s(a)} * s(b) >> 32); }},
      {"mul.wide.u32 %d10, %r1, %r2;", [](auto a, auto b, auto, auto) { return uint64_t{a} * b; },
       true},
      {"mul.wide.s32 %d10, %r1, %r2;",
       [](auto a, auto b, auto, auto) { return uint64_t(int64_t{s(a)} * s(b)); }, true},
      {"mov.b32 {%h1, %h2}, %r1; mul.wide.s16 %r10, %h1, %h2;",
       [](auto a, auto, auto, auto) { return uint32_t(int16_t(a) * int16_t(a >> 16)); }},
      {"mul.lo.s64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) { return pair(a, b) * pair(c, d); }, true},
      {"mul.hi.u64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) { return uint64_t(W{pair(a, b)} * pair(c, d) >> 64); },
       true},
      {"mul.hi.s64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) {
         return uint64_t(SW{sl(pair(a, b))} * sl(pair(c, d)) >> 64);
       },
       true},
      {"mad.lo.s32 %r10, %r1, %r2, %r3;", [](auto a, auto b, auto c, auto) { return a * b + c; }},
      {"mad.hi.u32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) { return uint32_t(uint64_t{a} * b >> 32) + c; }},
      {"mad.wide.u32 %d10, %r1, %r2, %d2;",
       [](auto a, auto b, auto c, auto d) { return uint64_t{a} * b + pair(c, d); }, true},
      {"mad.wide.s32 %d10, %r1, %r2, %d2;",
       [](auto a, auto b, auto c, auto d) { return uint64_t(int64_t{s(a)} * s(b)) + pair(c, d); },
       true},
      {"mad.lo.s64 %d10, %d1, %d2, 7;",
       [](auto a, auto b, auto c, auto d) { return pair(a, b) * pair(c, d) + 7; }, true},
      {"div.u32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return b ? a / b : ~0u; }},
      {"div.s32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) {
         return b == 0 ? ~0u : b == ~0u ? 0 - a : uint32_t(s(a) / s(b));
       }},
      {"rem.u32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return b ? a % b : a; }},
      {"rem.s32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) {
         return b == 0 ? a : b == ~0u ? 0 : uint32_t(s(a) % s(b));
       }},
      {"div.u64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) {
         return pair(c, d) ? pair(a, b) / pair(c, d) : ~uint64_t{0};
       },
       true},
      {"rem.u64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) {
         return pair(c, d) ? pair(a, b) % pair(c, d) : pair(a, b);
       },
       true},
      {"abs.s32 %r10, %r1;", [](auto a, auto, auto, auto) { return s(a) < 0 ? 0 - a : a; }},
      {"neg.s32 %r10, %r1;", [](auto a, auto, auto, auto) { return 0 - a; }},
      {"min.s32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) { return uint32_t(std::min(s(a), s(b))); }},
      {"min.u32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return std::min(a, b); }},
      {"max.s32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) { return uint32_t(std::max(s(a), s(b))); }},
      {"max.u64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) { return std::max(pair(a, b), pair(c, d)); }, true},
      {"sad.s32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) { return c + (s(a) < s(b) ? b - a : a - b); }},
      {"dp4a.s32.s32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) {
         uint32_t t = c;
         for (int i = 0; i < 32; i += 8)
           t += uint32_t(int8_t(a >> i) * int8_t(b >> i));
         return t;
       }},
      {"dp4a.u32.u32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) {
         uint32_t t = c;
         for (int i = 0; i < 32; i += 8)
           t += uint32_t(uint8_t(a >> i)) * uint8_t(b >> i);
         return t;
       }},
  });
}

TEST(Scalar, Bits) {
  check({
      {"and.b32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return a & b; }},
      {"or.b32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return a | b; }},
      {"xor.b32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return a ^ b; }},
      {"not.b32 %r10, %r1;", [](auto a, auto, auto, auto) { return ~a; }},
      {"cnot.b32 %r10, %r1;", [](auto a, auto, auto, auto) { return a == 0; }},
      {"and.b64 %d10, %d1, 4294967295;", [](auto a, auto, auto, auto) { return uint64_t{a}; },
       true},
      {"xor.b64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) { return pair(a, b) ^ pair(c, d); }, true},
      {"shl.b32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return b > 31 ? 0 : a << b; }},
      {"shr.u32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return b > 31 ? 0 : a >> b; }},
      {"shr.s32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) { return uint32_t(s(a) >> std::min(b, 31u)); }},
      {"shl.b64 %d10, %d1, %r3;",
       [](auto a, auto b, auto c, auto) { return c > 63 ? 0 : pair(a, b) << c; }, true},
      {"shr.u64 %d10, %d1, %r3;",
       [](auto a, auto b, auto c, auto) { return c > 63 ? 0 : pair(a, b) >> c; }, true},
      {"shr.s64 %d10, %d1, %r3;",
       [](auto a, auto b, auto c, auto) { return uint64_t(sl(pair(a, b)) >> std::min(c, 63u)); },
       true},
      {"mov.b32 {%h1, %h2}, %r1; shr.s16 %h3, %h1, 3; shl.b16 %h4, %h2, 5; mov.b32 %r10, {%h3, "
       "%h4};",
       [](auto a, auto, auto, auto) {
         return uint16_t(int16_t(a) >> 3) | uint32_t(uint16_t((a >> 16) << 5)) << 16;
       }},
      {"shf.l.wrap.b32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) { return uint32_t(pair(a, b) << (c & 31) >> 32); }},
      {"shf.l.clamp.b32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) { return c >= 32 ? a : uint32_t(pair(a, b) << c >> 32); }},
      {"shf.r.wrap.b32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) { return uint32_t(pair(a, b) >> (c & 31)); }},
      {"shf.r.clamp.b32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) { return uint32_t(pair(a, b) >> std::min(c, 32u)); }},
      {"and.b32 %r3, %r3, 63; bfe.u32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) {
         uint32_t p = b & 255, n = c & 63, r = 0;
         for (uint32_t i = 0; i < n && i < 32 && p + i <= 31; ++i)
           r |= (a >> (p + i) & 1) << i;
         return r;
       }},
      {"and.b32 %r3, %r3, 63; bfe.s32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) {
         uint32_t p = b & 255, n = c & 63, r = 0, sign = n ? a >> std::min(p + n - 1, 31u) & 1 : 0;
         for (uint32_t i = 0; i < 32; ++i)
           r |= (i < n && p + i <= 31 ? a >> (p + i) & 1 : sign) << i;
         return r;
       }},
      {"bfe.u64 %d10, %d1, 9, 20;",
       [](auto a, auto b, auto, auto) { return pair(a, b) >> 9 & 0xfffff; }, true},
      {"bfi.b32 %r10, %r1, %r2, %r3, %r4;",
       [](auto a, auto b, auto c, auto d) {
         uint32_t r = b;
         for (uint32_t i = 0; i < (d & 255) && (c & 255) + i < 32 && i < 32; ++i) {
           uint32_t at = (c & 255) + i;
           r = (r & ~(1u << at)) | (a >> i & 1) << at;
         }
         return r;
       }},
      {"prmt.b32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) {
         uint32_t r = 0;
         for (int i = 0; i < 4; ++i) {
           uint32_t sel = c >> (4 * i), byte = pair(a, b) >> (8 * (sel & 7)) & 255;
           if (sel & 8)
             byte = byte & 128 ? 255 : 0;
           r |= byte << (8 * i);
         }
         return r;
       }},
      {"prmt.b32 %r10, %r1, %r2, 0x5410;",
       [](auto a, auto b, auto, auto) { return (a & 0xffff) | b << 16; }},
      {"prmt.b32.f4e %r10, %r1, %r2, 1;",
       [](auto a, auto b, auto, auto) { return uint32_t(pair(a, b) >> 8); }},
      {"prmt.b32.rc16 %r10, %r1, %r2, 1;",
       [](auto a, auto, auto, auto) { return (a >> 16) | (a & 0xffff0000); }},
      {"lop3.b32 %r10, %r1, %r2, %r3, 0xE8;",
       [](auto a, auto b, auto c, auto) { return (a & b) | (a & c) | (b & c); }},
      {"lop3.b32 %r10, %r1, %r2, %r3, 0x1a;",
       [](auto a, auto b, auto c, auto) {
         return (~a & b & c) | (~a & ~b & c & 0) | [&] {
           uint32_t r = 0;
           for (int i = 0; i < 8; ++i)
             if (0x1a >> i & 1)
               r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
           return r;
         }();
       }},
      {"popc.b32 %r10, %r1;", [](auto a, auto, auto, auto) { return __builtin_popcount(a); }},
      {"popc.b64 %r10, %d1;",
       [](auto a, auto b, auto, auto) { return __builtin_popcountll(pair(a, b)); }},
      {"clz.b32 %r10, %r1;", [](auto a, auto, auto, auto) { return a ? __builtin_clz(a) : 32; }},
      {"clz.b64 %r10, %d1;",
       [](auto a, auto b, auto, auto) { return pair(a, b) ? __builtin_clzll(pair(a, b)) : 64; }},
      {"brev.b32 %r10, %r1;",
       [](auto a, auto, auto, auto) {
         uint32_t r = 0;
         for (int i = 0; i < 32; ++i)
           r |= (a >> i & 1) << (31 - i);
         return r;
       }},
      {"bfind.u32 %r10, %r1;",
       [](auto a, auto, auto, auto) { return a ? 31 - __builtin_clz(a) : ~0u; }},
      {"bfind.s32 %r10, %r1;",
       [](auto a, auto, auto, auto) {
         uint32_t x = s(a) < 0 ? ~a : a;
         return x ? 31 - __builtin_clz(x) : ~0u;
       }},
      {"bfind.shiftamt.u32 %r10, %r1;",
       [](auto a, auto, auto, auto) { return a ? __builtin_clz(a) : ~0u; }},
      {"mov.b64 {%r5, %r6}, %d1; mov.b32 %r10, %r6;", [](auto, auto b, auto, auto) { return b; }},
      {"mov.b64 {_, %r10}, %d1;", [](auto, auto b, auto, auto) { return b; }},
      {"mov.b32 {%h1, %h2}, %r1; mov.b32 {%h3, %h4}, %r2; mov.b64 %d10, {%h1, %h2, %h3, %h4};",
       [](auto a, auto b, auto, auto) { return pair(a, b); }, true},
  });
}

TEST(Scalar, Predicates) {
  check({
      {"setp.lt.s32 %p1, %r1, %r2; selp.b32 %r10, %r3, %r4, %p1;",
       [](auto a, auto b, auto c, auto d) { return s(a) < s(b) ? c : d; }},
      {"setp.lo.u32 %p1, %r1, %r2; selp.b32 %r10, %r3, %r4, %p1;",
       [](auto a, auto b, auto c, auto d) { return a < b ? c : d; }},
      {"setp.hs.u32 %p1, %r1, %r2; selp.f32 %r10, %r3, %r4, %p1;",
       [](auto a, auto b, auto c, auto d) { return a >= b ? c : d; }},
      {"setp.ne.b64 %p1, %d1, %d2; selp.b64 %d10, %d1, 5, %p1;",
       [](auto a, auto b, auto c, auto d) { return pair(a, b) != pair(c, d) ? pair(a, b) : 5; },
       true},
      {"setp.gt.f32 %p1, %r1, %r2; selp.b32 %r10, 1, 0, %p1;",
       [](auto a, auto b, auto, auto) { return f(a) > f(b); }},
      {"setp.ne.f32 %p1, %r1, %r2; selp.b32 %r10, 1, 0, %p1;",
       [](auto a, auto b, auto, auto) {
         return !std::isnan(f(a)) && !std::isnan(f(b)) && f(a) != f(b);
       }},
      {"setp.neu.f32 %p1, %r1, %r2; selp.b32 %r10, 1, 0, %p1;",
       [](auto a, auto b, auto, auto) { return f(a) != f(b); }},
      {"setp.leu.f32 %p1, %r1, %r2; selp.b32 %r10, 1, 0, %p1;",
       [](auto a, auto b, auto, auto) { return !(f(a) > f(b)); }},
      {"setp.num.f32 %p1, %r1, %r2; selp.b32 %r10, 1, 0, %p1;",
       [](auto a, auto b, auto, auto) { return !std::isnan(f(a)) && !std::isnan(f(b)); }},
      {"setp.nan.f32 %p1|%p2, %r1, %r2; selp.b32 %r10, 1, 0, %p2;",
       [](auto a, auto b, auto, auto) { return !std::isnan(f(a)) && !std::isnan(f(b)); }},
      {"setp.ge.f64 %p1, %d1, %d2; selp.b32 %r10, 1, 0, %p1;",
       [](auto a, auto b, auto c, auto d) { return dbl(a, b) >= dbl(c, d); }},
      {"setp.eq.u32 %p3, %r3, 0; setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3; selp.b32 %r5, 1, 0, %p1; "
       "selp.b32 %r6, 2, 0, %p2; or.b32 %r10, %r5, %r6;",
       [](auto a, auto b, auto c, auto) {
         return (s(a) < s(b) && c ? 1 : 0) | (!(s(a) < s(b)) && c ? 2 : 0);
       }},
      {"setp.eq.u32 %p3, %r3, 0; setp.lt.or.s32 %p1, %r1, %r2, %p3; selp.b32 %r10, 1, 0, %p1;",
       [](auto a, auto b, auto c, auto) { return s(a) < s(b) || !c; }},
      {"setp.eq.u32 %p3, %r3, 0; setp.lt.xor.s32 %p1, %r1, %r2, %p3; selp.b32 %r10, 1, 0, %p1;",
       [](auto a, auto b, auto c, auto) { return (s(a) < s(b)) != !c; }},
      {"setp.lt.s32 %p1, %r1, 0; setp.lt.s32 %p2, %r2, 0; and.pred %p3, %p1, %p2; or.pred %p4, "
       "%p1, %p2; xor.pred %p5, %p1, %p2; not.pred %p6, %p1; mov.pred %p7, %p2;\n selp.b32 %r5, 1, "
       "0, %p3; selp.b32 %r6, 2, 0, %p4; selp.b32 %r7, 4, 0, %p5; selp.b32 %r8, 8, 0, %p6; "
       "selp.b32 %r9, 16, 0, %p7; or.b32 %r10, %r5, %r6; or.b32 %r10, %r10, %r7; or.b32 %r10, "
       "%r10, %r8; or.b32 %r10, %r10, %r9;",
       [](auto a, auto b, auto, auto) {
         bool p = s(a) < 0, q = s(b) < 0;
         return (p && q ? 1 : 0) | (p || q ? 2 : 0) | (p != q ? 4 : 0) | (!p ? 8 : 0) |
                (q ? 16 : 0);
       }},
      {"mov.u32 %r10, 1; setp.lt.s32 %p1, %r1, 0; @%p1 add.u32 %r10, %r10, 1; @!%p1 add.u32 %r10, "
       "%r10, 2;",
       [](auto a, auto, auto, auto) { return s(a) < 0 ? 2 : 3; }},
      {"slct.u32.s32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) { return s(c) >= 0 ? a : b; }},
      {"testp.infinite.f32 %p1, %r1; selp.b32 %r10, 1, 0, %p1;",
       [](auto a, auto, auto, auto) { return std::isinf(f(a)); }},
      {"testp.subnormal.f32 %p1, %r1; selp.b32 %r10, 1, 0, %p1;",
       [](auto a, auto, auto, auto) { return std::fpclassify(f(a)) == FP_SUBNORMAL; }},
  });
}

float flushF(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
float clamp(float x) { return x > 1 ? 1 : x > 0 ? x : 0; }
float minimum(float a, float b) {
  return std::isnan(a)   ? b
         : std::isnan(b) ? a
         : a == b        ? (std::signbit(a) ? a : b)
                         : std::min(a, b);
}
float maximum(float a, float b) {
  return std::isnan(a)   ? b
         : std::isnan(b) ? a
         : a == b        ? (std::signbit(a) ? b : a)
                         : std::max(a, b);
}

TEST(Scalar, Floats) {
  constexpr auto Single = Form::Single;
  constexpr auto Double = Form::Double;
  check({
      {"add.rn.f32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return u(f(a) + f(b)); },
       false, Single},
      {"add.f32 %r10, %r1, 0f3F800000;", [](auto a, auto, auto, auto) { return u(f(a) + 1); },
       false, Single},
      {"add.ftz.f32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) { return u(flushF(flushF(f(a)) + flushF(f(b)))); }, false,
       Single},
      {"add.sat.f32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) { return u(clamp(f(a) + f(b))); }, false, Single},
      {"sub.rn.f32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return u(f(a) - f(b)); },
       false, Single},
      {"mul.rn.f32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return u(f(a) * f(b)); },
       false, Single},
      {"fma.rn.f32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) { return u(std::fma(f(a), f(b), f(c))); }, false, Single},
      {"mad.rn.f32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) { return u(std::fma(f(a), f(b), f(c))); }, false, Single},
      {"fma.rn.ftz.sat.f32 %r10, %r1, %r2, %r3;",
       [](auto a, auto b, auto c, auto) {
         return u(clamp(flushF(std::fma(flushF(f(a)), flushF(f(b)), flushF(f(c))))));
       },
       false, Single},
      {"div.rn.f32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return u(f(a) / f(b)); },
       false, Single},
      {"div.approx.f32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return u(f(a) / f(b)); },
       false, Single},
      {"neg.f32 %r10, %r1;", [](auto a, auto, auto, auto) { return a ^ 0x80000000; }, false,
       Single},
      {"abs.f32 %r10, %r1;", [](auto a, auto, auto, auto) { return a & 0x7fffffff; }, false,
       Single},
      {"min.f32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return u(minimum(f(a), f(b))); },
       false, Single},
      {"max.f32 %r10, %r1, %r2;", [](auto a, auto b, auto, auto) { return u(maximum(f(a), f(b))); },
       false, Single},
      {"max.NaN.f32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) {
         return std::isnan(f(a)) || std::isnan(f(b)) ? 0x7fffffff : u(maximum(f(a), f(b)));
       }},
      {"rcp.rn.f32 %r10, %r1;", [](auto a, auto, auto, auto) { return u(1 / f(a)); }, false,
       Single},
      {"sqrt.rn.f32 %r10, %r1;", [](auto a, auto, auto, auto) { return u(std::sqrt(f(a))); }, false,
       Single},
      {"copysign.f32 %r10, %r1, %r2;",
       [](auto a, auto b, auto, auto) { return (b & 0x7fffffff) | (a & 0x80000000); }},
      {"add.f64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) { return bitsAs<uint64_t>(dbl(a, b) + dbl(c, d)); }, true,
       Double},
      {"mul.f64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) { return bitsAs<uint64_t>(dbl(a, b) * dbl(c, d)); }, true,
       Double},
      {"fma.rn.f64 %d10, %d1, %d2, 0d3FF0000000000000;",
       [](auto a, auto b, auto c, auto d) {
         return bitsAs<uint64_t>(std::fma(dbl(a, b), dbl(c, d), 1.0));
       },
       true, Double},
      {"div.rn.f64 %d10, %d1, %d2;",
       [](auto a, auto b, auto c, auto d) { return bitsAs<uint64_t>(dbl(a, b) / dbl(c, d)); }, true,
       Double},
      {"sqrt.rn.f64 %d10, %d1;",
       [](auto a, auto b, auto, auto) { return bitsAs<uint64_t>(std::sqrt(dbl(a, b))); }, true,
       Double},
  });
}

TEST(Scalar, ApproximateFunctionsKeepTheirBounds) {
  std::vector<Words> in;
  for (int i = 0; i < 1024; ++i)
    in.push_back({u(-40 + 0.08f * static_cast<float>(i)),
                  u(std::ldexp(1.0f + static_cast<float>(i) / 1024, i % 60 - 30)), 0, 0});
  struct Function {
    const char *body;
    int operand;
    double (*exact)(double);
    double relative, absolute;
  } functions[] = {
      {"ex2.approx.ftz.f32 %r10, %r1;", 0, [](double x) { return std::exp2(x); }, 0x1p-22, 0},
      {"ex2.approx.f32 %r10, %r1;", 0, [](double x) { return std::exp2(x); }, 0x1p-22, 0},
      {"lg2.approx.f32 %r10, %r2;", 1, [](double x) { return std::log2(x); }, 0x1p-22, 0x1p-22},
      {"rcp.approx.ftz.f32 %r10, %r2;", 1, [](double x) { return 1 / x; }, 0x1p-22, 0},
      {"rsqrt.approx.f32 %r10, %r2;", 1, [](double x) { return 1 / std::sqrt(x); }, 0x1p-22, 0},
      {"sqrt.approx.f32 %r10, %r2;", 1, [](double x) { return std::sqrt(x); }, 0x1p-22, 0},
      {"tanh.approx.f32 %r10, %r1;", 0, [](double x) { return std::tanh(x); }, 0x1p-11, 0},
      {"sin.approx.f32 %r10, %r1;", 0, [](double x) { return std::sin(x); }, 0, 0x1p-20},
      {"cos.approx.f32 %r10, %r1;", 0, [](double x) { return std::cos(x); }, 0, 0x1p-20},
  };
  for (const Function &function : functions) {
    std::vector<uint64_t> out = lanes(function.body, in, false);
    for (size_t i = 0; i < in.size(); ++i) {
      double x = f(in[i][static_cast<size_t>(function.operand)]), expected = function.exact(x);
      ASSERT_NEAR(f(static_cast<uint32_t>(out[i])), expected,
                  std::fabs(expected) * function.relative + function.absolute)
          << function.body << " of " << x;
    }
  }
  // Ends of the range.
  std::vector<Words> ends = {{u(-INFINITY), 0, 0, 0}, {u(INFINITY), 0, 0, 0}, {0x7fc00000, 0, 0, 0},
                             {u(-200), 0, 0, 0},      {u(200), 0, 0, 0},      {u(-149), 0, 0, 0},
                             {u(-130), 0, 0, 0},      {u(3), 0, 0, 0}};
  std::vector<uint64_t> plain = lanes("ex2.approx.f32 %r10, %r1;", ends, false),
                        ftz = lanes("ex2.approx.ftz.f32 %r10, %r1;", ends, false);
  EXPECT_EQ(plain[0], 0u);
  EXPECT_EQ(f(static_cast<uint32_t>(plain[1])), INFINITY);
  EXPECT_TRUE(std::isnan(f(static_cast<uint32_t>(plain[2]))));
  EXPECT_EQ(plain[3], 0u);
  EXPECT_EQ(f(static_cast<uint32_t>(plain[4])), INFINITY);
  EXPECT_EQ(plain[5], 1u);
  EXPECT_EQ(ftz[6], 0u);
  EXPECT_EQ(f(static_cast<uint32_t>(plain[7])), 8.0f);
}

TEST(Scalar, DirectedRounding) {
  std::vector<Words> in = {{u(1), u(0x1p-30f), u(-1), 0}, {u(-1), u(-0x1p-30f), u(3), 0}};
  auto result = [&](const char *body, size_t i) {
    return f(static_cast<uint32_t>(lanes(body, in, false)[i]));
  };
  EXPECT_EQ(result("add.rp.f32 %r10, %r1, %r2;", 0), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(result("add.rm.f32 %r10, %r1, %r2;", 0), 1.0f);
  EXPECT_EQ(result("add.rz.f32 %r10, %r1, %r2;", 1), -1.0f);
  EXPECT_EQ(result("add.rm.f32 %r10, %r1, %r2;", 1), std::nextafter(-1.0f, -2.0f));
  EXPECT_EQ(result("div.rp.f32 %r10, %r1, %r3;", 1), std::nextafter(-1.0f / 3, 0.0f));
  EXPECT_EQ(result("fma.rz.f32 %r10, %r1, %r1, %r2;", 0), 1.0f);
}

// --- halves
uint16_t referenceF16(double value) { // by searching all halves: slow and plain
  if (std::isnan(value))
    return 0x7fff;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (magnitude >= 65520)
    return sign | 0x7c00;
  int exponent =
      magnitude == 0 ? -14 : std::max(-14, static_cast<int>(std::floor(std::log2(magnitude))));
  double unit = std::ldexp(1.0, exponent - 10), steps = std::nearbyint(magnitude / unit);
  uint32_t bits = static_cast<uint32_t>(steps) + (static_cast<uint32_t>(exponent + 14) << 10);
  return static_cast<uint16_t>(sign | bits);
}

TEST(Scalar, HalfConversionsAreExact) {
  for (uint32_t i = 0; i < 65536; ++i) {
    uint16_t half = static_cast<uint16_t>(i);
    float value = fromF16(half);
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    if (exponent == 31) {
      ASSERT_EQ(mantissa ? std::isnan(value) : std::isinf(value), true);
    } else {
      double expected =
          (exponent ? 1024 + mantissa : mantissa) * std::ldexp(1.0, std::max(exponent, 1) - 25);
      ASSERT_EQ(value, half & 0x8000 ? -expected : expected);
      ASSERT_EQ(toF16(value), half);
    }
    float brain = fromBf16(half);
    if (!std::isnan(brain))
      ASSERT_EQ(toBf16(brain), half);
  }
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    float value = std::ldexp(static_cast<float>(random()) / 4294967296.0f - 0.5f,
                             static_cast<int>(random() % 50) - 30);
    ASSERT_EQ(toF16(value), referenceF16(value)) << value;
  }
}

TEST(Scalar, Halves) {
  auto h = [](uint32_t x) { return fromF16(static_cast<uint16_t>(x)); };
  auto b16 = [](uint32_t x) { return fromBf16(static_cast<uint16_t>(x)); };
  auto nanF16 = [](uint16_t x) { return (x & 0x7fff) > 0x7c00 ? uint16_t{0x7fff} : x; };
  auto nanBf16 = [](uint16_t x) { return (x & 0x7fff) > 0x7f80 ? uint16_t{0x7fff} : x; };
  std::string split = "mov.b32 {%h1, %h2}, %r1; ";
  auto tail = std::string(" cvt.u32.u16 %r10, %h3;");
  std::string addText = split + "add.f16 %h3, %h1, %h2;" + tail,
              fmaText = split + "fma.rn.f16 %h3, %h1, %h2, %h2;" + tail,
              bfText = split + "fma.rn.bf16 %h3, %h1, %h2, %h2;" + tail,
              maxText = split + "max.bf16 %h3, %h1, %h2;" + tail;
  check({
      {addText.c_str(), [&](auto a, auto, auto, auto) { return nanF16(toF16(h(a) + h(a >> 16))); }},
      {fmaText.c_str(),
       [&](auto a, auto, auto, auto) {
         return nanF16(referenceF16(static_cast<double>(h(a)) * h(a >> 16) + h(a >> 16)));
       }},
      {bfText.c_str(),
       [&](auto a, auto, auto, auto) {
         double exact = static_cast<double>(b16(a)) * b16(a >> 16) + b16(a >> 16);
         float odd = static_cast<float>(exact);
         uint32_t bits = u(odd);
         if (!std::isnan(exact) && static_cast<double>(odd) != exact) {
           if (std::fabs(static_cast<double>(odd)) > std::fabs(exact))
             --bits;
           bits |= 1;
         }
         return nanBf16(toBf16(f(bits)));
       }},
      {maxText.c_str(),
       [&](auto a, auto, auto, auto) { return nanBf16(toBf16(maximum(b16(a), b16(a >> 16)))); }},
      {"mul.f16x2 %r10, %r1, %r2;",
       [&](auto a, auto b, auto, auto) {
         return nanF16(toF16(h(a) * h(b))) | uint32_t{nanF16(toF16(h(a >> 16) * h(b >> 16)))} << 16;
       }},
      {"add.bf16x2 %r10, %r1, %r2;",
       [&](auto a, auto b, auto, auto) {
         return nanBf16(toBf16(b16(a) + b16(b))) |
                uint32_t{nanBf16(toBf16(b16(a >> 16) + b16(b >> 16)))} << 16;
       }},
      {"setp.lt.f16x2 %p1|%p2, %r1, %r2; selp.b32 %r5, 1, 0, %p1; selp.b32 %r6, 2, 0, %p2; or.b32 "
       "%r10, %r5, %r6;",
       [&](auto a, auto b, auto, auto) {
         return (h(a) < h(b) ? 1 : 0) | (h(a >> 16) < h(b >> 16) ? 2 : 0);
       }},
      {"setp.geu.bf16x2 %p1|%p2, %r1, %r2; selp.b32 %r5, 1, 0, %p1; selp.b32 %r6, 2, 0, %p2; "
       "or.b32 %r10, %r5, %r6;",
       [&](auto a, auto b, auto, auto) {
         return (!(b16(a) < b16(b)) ? 1 : 0) | (!(b16(a >> 16) < b16(b >> 16)) ? 2 : 0);
       }},
      {"neg.bf16x2 %r10, %r1;", [](auto a, auto, auto, auto) { return a ^ 0x80008000; }},
      {"abs.f16x2 %r10, %r1;", [](auto a, auto, auto, auto) { return a & 0x7fff7fff; }},
      {"cvt.rn.bf16x2.f32 %r10, %r1, %r2;",
       [&](auto a, auto b, auto, auto) {
         return nanBf16(toBf16(f(b))) | uint32_t{nanBf16(toBf16(f(a)))} << 16;
       }},
      {"cvt.rn.f16x2.f32 %r10, %r1, %r2;",
       [&](auto a, auto b, auto, auto) {
         return nanF16(toF16(f(b))) | uint32_t{nanF16(toF16(f(a)))} << 16;
       }},
      {"cvt.rz.bf16x2.f32 %r10, %r1, %r2;",
       [&](auto a, auto b, auto, auto) {
         auto t = [](uint32_t x) -> uint32_t {
           return (x & 0x7fffffff) > 0x7f800000 ? 0x7fff : x >> 16;
         };
         return t(b) | t(a) << 16;
       }},
  });
}

TEST(Scalar, Conversions) {
  constexpr auto Single = Form::Single;
  constexpr auto Double = Form::Double;
  auto clampTo = [](double x, double low, double high) {
    return std::isnan(x) ? 0 : std::min(std::max(x, low), high);
  };
  auto toS64 = [](double x) {
    return std::isnan(x) || x <= -0x1p63 ? uint64_t{1} << 63
           : x >= 0x1p63                 ? ~uint64_t{0} >> 1
                                         : static_cast<uint64_t>(static_cast<int64_t>(x));
  };
  auto toU64 = [](double x) {
    return std::isnan(x) ? uint64_t{1} << 63
           : x <= 0      ? 0
           : x >= 0x1p64 ? ~uint64_t{0}
                         : static_cast<uint64_t>(x);
  };
  check({
      {"cvt.u64.u32 %d10, %r1;", [](auto a, auto, auto, auto) { return uint64_t{a}; }, true},
      {"cvt.s64.s32 %d10, %r1;", [](auto a, auto, auto, auto) { return uint64_t(int64_t{s(a)}); },
       true},
      {"cvt.u32.u64 %r10, %d1;", [](auto a, auto, auto, auto) { return a; }},
      {"cvt.s32.s8 %r10, %r1;", [](auto a, auto, auto, auto) { return uint32_t(int8_t(a)); }},
      {"cvt.u32.u8 %r10, %r1;", [](auto a, auto, auto, auto) { return uint8_t(a); }},
      {"cvt.u16.u32 %h1, %r1; cvt.s32.s16 %r10, %h1;",
       [](auto a, auto, auto, auto) { return uint32_t(int16_t(a)); }},
      {"cvt.sat.s8.s32 %r10, %r1;",
       [](auto a, auto, auto, auto) { return uint32_t(std::min(std::max(s(a), -128), 127)); }},
      {"cvt.sat.u8.s32 %r10, %r1;",
       [](auto a, auto, auto, auto) { return uint32_t(std::min(std::max(s(a), 0), 255)); }},
      {"cvt.rn.f32.s32 %r10, %r1;",
       [](auto a, auto, auto, auto) { return u(static_cast<float>(s(a))); }},
      {"cvt.rn.f32.u32 %r10, %r1;",
       [](auto a, auto, auto, auto) { return u(static_cast<float>(a)); }},
      {"cvt.rn.f32.u64 %r10, %d1;",
       [](auto a, auto b, auto, auto) { return u(static_cast<float>(pair(a, b))); }},
      {"cvt.rz.f32.u32 %r10, %r1;",
       [](auto a, auto, auto, auto) {
         float x = static_cast<float>(a);
         return u(static_cast<double>(x) > a ? std::nextafter(x, 0.0f) : x);
       }},
      {"cvt.rn.f64.s64 %d10, %d1;",
       [](auto a, auto b, auto, auto) {
         return bitsAs<uint64_t>(static_cast<double>(sl(pair(a, b))));
       },
       true},
      {"cvt.f64.f32 %d10, %r1;",
       [](auto a, auto, auto, auto) { return bitsAs<uint64_t>(static_cast<double>(f(a))); }, true,
       Double},
      {"cvt.rn.f32.f64 %r10, %d1;",
       [](auto a, auto b, auto, auto) { return u(static_cast<float>(dbl(a, b))); }, false, Single},
      {"cvt.rzi.s32.f32 %r10, %r1;",
       [&](auto a, auto, auto, auto) {
         return uint32_t(
             int64_t(clampTo(std::trunc(static_cast<double>(f(a))), INT32_MIN, INT32_MAX)));
       }},
      {"cvt.rzi.u32.f32 %r10, %r1;",
       [&](auto a, auto, auto, auto) {
         return uint32_t(int64_t(clampTo(std::trunc(static_cast<double>(f(a))), 0, UINT32_MAX)));
       }},
      {"cvt.rzi.s32.f64 %r10, %d1;",
       [&](auto a, auto b, auto, auto) {
         double x = dbl(a, b);
         return std::isnan(x) ? 0x80000000
                              : uint32_t(int64_t(clampTo(std::trunc(x), INT32_MIN, INT32_MAX)));
       }},
      {"cvt.rzi.s64.f32 %d10, %r1;", [&](auto a, auto, auto, auto) { return toS64(f(a)); }, true},
      {"cvt.rzi.u64.f32 %d10, %r1;", [&](auto a, auto, auto, auto) { return toU64(f(a)); }, true},
      {"cvt.rzi.s64.f64 %d10, %d1;", [&](auto a, auto b, auto, auto) { return toS64(dbl(a, b)); },
       true},
      {"cvt.rzi.u64.f64 %d10, %d1;", [&](auto a, auto b, auto, auto) { return toU64(dbl(a, b)); },
       true},
      {"cvt.rni.s32.f32 %r10, %r1;",
       [&](auto a, auto, auto, auto) {
         return uint32_t(
             int64_t(clampTo(std::nearbyint(static_cast<double>(f(a))), INT32_MIN, INT32_MAX)));
       }},
      {"cvt.rmi.s32.f32 %r10, %r1;",
       [&](auto a, auto, auto, auto) {
         return uint32_t(
             int64_t(clampTo(std::floor(static_cast<double>(f(a))), INT32_MIN, INT32_MAX)));
       }},
      {"cvt.rpi.u32.f32 %r10, %r1;",
       [&](auto a, auto, auto, auto) {
         return uint32_t(int64_t(clampTo(std::ceil(static_cast<double>(f(a))), 0, UINT32_MAX)));
       }},
      {"cvt.rni.f32.f32 %r10, %r1;",
       [](auto a, auto, auto, auto) { return u(std::nearbyint(f(a))); }, false, Single},
      {"cvt.rmi.f32.f32 %r10, %r1;", [](auto a, auto, auto, auto) { return u(std::floor(f(a))); },
       false, Single},
      {"cvt.sat.f32.f32 %r10, %r1;", [](auto a, auto, auto, auto) { return u(clamp(f(a))); }, false,
       Single},
      {"cvt.ftz.f32.f32 %r10, %r1;", [](auto a, auto, auto, auto) { return u(flushF(f(a))); },
       false, Single},
      {"mov.b32 {%h1, %h2}, %r1; cvt.f32.f16 %r10, %h1;",
       [](auto a, auto, auto, auto) { return u(fromF16(static_cast<uint16_t>(a))); }, false,
       Single},
      {"mov.b32 {%h1, %h2}, %r1; cvt.f32.bf16 %r10, %h2;",
       [](auto a, auto, auto, auto) { return a & 0xffff0000; }, false, Single},
      {"cvt.rn.f16.f32 %h1, %r1; mov.b32 %r10, {%h1, %h1};",
       [](auto a, auto, auto, auto) {
         uint16_t x = referenceF16(f(a));
         return x | uint32_t{x} << 16;
       }},
      {"cvt.rz.f16.f32 %h1, %r1; cvt.u32.u16 %r10, %h1;",
       [](auto a, auto, auto, auto) -> uint32_t {
         float x = f(a);
         if (std::isnan(x))
           return 0x7fff;
         uint16_t r = referenceF16(x);
         if (std::isinf(x))
           return r;
         if (std::fabs(fromF16(r)) > std::fabs(x))
           --r;
         return r;
       }},
      {"cvt.rna.tf32.f32 %r10, %r1;",
       [](auto a, auto, auto, auto) {
         return std::isnan(f(a))                 ? a
                : (a & 0x7fffffff) >= 0x7f800000 ? a
                                                 : (a + 0x1000) & 0xffffe000;
       },
       false, Single},
  });
}

TEST(Scalar, EightBitFloats) {
  for (uint32_t i = 0; i < 256; ++i) {
    uint8_t byte = static_cast<uint8_t>(i);
    float four = fromE4M3(byte), five = fromE5M2(byte);
    if ((byte & 0x7f) == 0x7f)
      EXPECT_TRUE(std::isnan(four));
    else
      EXPECT_EQ(toE4M3(four), byte);
    if ((byte & 0x7f) < 0x7c)
      EXPECT_EQ(toE5M2(five), byte);
  }
  EXPECT_EQ(fromE4M3(0x7e), 448.0f);
  EXPECT_EQ(fromE4M3(0x01), 0x1p-9f);
  EXPECT_EQ(fromE5M2(0x7b), 57344.0f);
  EXPECT_EQ(toE4M3(1000.0f), 0x7e);
  check({
      {"cvt.rn.satfinite.e4m3x2.f32 %h1, %r1, %r2; cvt.u32.u16 %r10, %h1;",
       [](auto a, auto b, auto, auto) { return toE4M3(f(b)) | uint32_t{toE4M3(f(a))} << 8; }},
      {"cvt.rn.satfinite.e5m2x2.f32 %h1, %r1, %r2; cvt.u32.u16 %r10, %h1;",
       [](auto a, auto b, auto, auto) { return toE5M2(f(b)) | uint32_t{toE5M2(f(a))} << 8; }},
      {"mov.b32 {%h1, %h2}, %r1; cvt.rn.f16x2.e4m3x2 %r10, %h1;",
       [](auto a, auto, auto, auto) {
         return toF16(fromE4M3(static_cast<uint8_t>(a))) |
                uint32_t{toF16(fromE4M3(static_cast<uint8_t>(a >> 8)))} << 16;
       }},
  });
}

TEST(Scalar, SpecialRegisters) {
  Outcome run = launch(wrap(R"(
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %r0;
    mul.wide.u32 %d1, %r3, 16; add.s64 %d2, %out, %d1;
    mov.u32 %r4, %laneid; mov.u32 %r5, %warpid; mov.u32 %r6, %lanemask_lt; mov.u32 %r7, %nctaid.x;
    shl.b32 %r5, %r5, 8; or.b32 %r4, %r4, %r5; shl.b32 %r7, %r7, 16; or.b32 %r4, %r4, %r7;
    st.global.v4.b32 [%d2], {%r3, %r4, %r6, WARP_SZ};)"),
                       {Words{}}, 64, {}, 3);
  for (uint32_t i = 0; i < 192; ++i) {
    uint32_t lane = i % 32, warp = i % 64 / 32;
    EXPECT_EQ(run.out[i], (Words{i, lane | warp << 8 | 3u << 16, (1u << lane) - 1, 32}));
  }
}

TEST(Scalar, LoadsAndStores) {
  // Every width, signed and not, vectors, generic addresses, local memory, module variables.
  std::vector<Words> in = {{0x80ff7f01, 0x11223344, 0x55667788, 0x99aabbcc}};
  auto first = [&](const std::string &body, const std::string &globals = "") {
    return launch(wrap(body, globals), in, 1).out[0];
  };
  EXPECT_EQ(first("ld.global.s8 %r1, [%i+3]; ld.global.u8 %r2, [%i+3]; ld.global.s16 %r3, [%i+2]; "
                  "ld.global.nc.u16 %h1, [%i+2]; cvt.u32.u16 %r4, %h1; st.global.v4.u32 [%o], "
                  "{%r1, %r2, %r3, %r4};"),
            (Words{0xffffff80, 0x80, 0xffff80ff, 0x80ff}));
  EXPECT_EQ(first("ld.global.L2::128B.v2.b64 {%d1, %d2}, [%i]; st.global.v2.b64 [%o], {%d2, %d1};"),
            (Words{0x55667788, 0x99aabbcc, 0x80ff7f01, 0x11223344}));
  EXPECT_EQ(first("ld.v4.f32 {%r1, _, %r3, %r4}, [%i]; mov.u32 %r2, 7; st.v4.f32 [%o], {%r1, %r2, "
                  "%r3, %r4};"),
            (Words{0x80ff7f01, 7, 0x55667788, 0x99aabbcc}));
  EXPECT_EQ(first("ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%i]; st.global.v4.u8 [%o], {%h4, %h3, "
                  "%h2, %h1}; st.global.u32 [%o+4], 1; st.global.b64 [%o+8], 2;"),
            (Words{0x017fff80, 1, 2, 0}));
  EXPECT_EQ(first(".local .align 16 .b8 depot[32]; mov.u64 %d5, depot; cvta.local.u64 %d6, %d5; "
                  "st.u32 [%d6+4], 5; st.local.u32 [depot+8], 6; ld.local.u32 %r1, [%d5+4]; ld.u32 "
                  "%r2, [%d6+8]; st.global.v4.u32 [%o], {%r1, %r2, 0, 0};"),
            (Words{5, 6, 0, 0}));
  EXPECT_EQ(
      first("ld.global.u32 %r1, [table+8]; ld.const.u32 %r2, [scale]; mov.u64 %d5, table; "
            "ld.global.u32 %r3, [%d5]; ld.u32 %r4, [table+4]; st.global.v4.u32 [%o], {%r1, %r2, "
            "%r3, %r4};",
            ".global .align 4 .u32 table[3] = {10, 20, 30};\n.const .f32 scale = 0f40000000;\n"),
      (Words{30, 0x40000000, 10, 20}));
  EXPECT_EQ(first("ld.global.u32 %r1, [few]; ld.global.u32 %r2, [few+4]; ld.global.u32 %r3, "
                  "[few+12]; st.global.v4.u32 [%o], {%r1, %r2, %r3, 0};",
                  ".global .align 4 .u32 few[4] = {10, 20};\n"),
            (Words{10, 20, 0, 0}));
  EXPECT_EQ(first("mov.b64 %d5, k_in; cvta.param.u64 %d6, %d5; ld.u64 %d7, [%d6]; ld.param.b64 "
                  "%d8, [k_in]; setp.eq.u64 %p1, %d7, %d8; selp.u32 %r1, 1, 0, %p1; "
                  "st.global.v4.u32 [%o], {%r1, 0, 0, 0};"),
            (Words{1, 0, 0, 0}));
  EXPECT_EQ(
      first("mov.u64 %d5, tile; cvta.shared.u64 %d6, %d5; cvta.to.shared.u64 %d7, %d6; st.u32 "
            "[%d6], 3; ld.shared.u32 %r1, [%d7]; isspacep.shared %p1, %d6; isspacep.global %p2, "
            "%d6; selp.u32 %r2, 1, 0, %p1; selp.u32 %r3, 1, 0, %p2; cvt.u32.u64 %r5, %d7; "
            "ld.shared.u32 %r4, [%r5]; st.global.v4.u32 [%o], {%r1, %r2, %r3, %r4};",
            ".shared .align 16 .b8 tile[64];\n"),
      (Words{3, 1, 0, 3}));
}

TEST(Scalar, Atomics) {
  struct Case {
    const char *name, *type;
    uint32_t start;
    std::function<uint32_t(uint32_t, uint32_t)> step;
    uint32_t value(uint32_t i) const {
      return std::string(type) == "f32" ? u(static_cast<float>(i)) : 3 * i + 1;
    }
  };
  std::vector<Case> cases = {
      {"add", "u32", 5, [](auto x, auto y) { return x + y; }},
      {"add", "f32", u(1), [](auto x, auto y) { return u(f(x) + f(y)); }},
      {"min", "s32", 50, [](auto x, auto y) { return std::min(s(x), s(y)); }},
      {"max", "u32", 50, [](auto x, auto y) { return std::max(x, y); }},
      {"and", "b32", 0xff, [](auto x, auto y) { return x & y; }},
      {"or", "b32", 0x100, [](auto x, auto y) { return x | y; }},
      {"xor", "b32", 0x55, [](auto x, auto y) { return x ^ y; }},
      {"exch", "b32", 9, [](auto, auto y) { return y; }},
      {"inc", "u32", 3, [](auto x, auto y) { return x >= y ? 0 : x + 1; }},
      {"dec", "u32", 3, [](auto x, auto y) { return x == 0 || x > y ? y : x - 1; }},
  };
  for (const Case &c : cases)
    for (bool shared : {false, true}) {
      std::vector<Words> in(32);
      for (uint32_t i = 0; i < 32; ++i)
        in[i] = {c.value(i), c.start, 0, 0};
      std::string space = shared ? "shared" : "global", place = shared ? "cell" : "gcell";
      std::string body = "ld.global.u32 %r1, [%i]; ld.global.u32 %r2, [%i+4];\n setp.eq.u32 %p1, "
                         "%r0, 0; @%p1 st." +
                         space + ".u32 [" + place + "], %r2; bar.sync 0;\n atom." + space + "." +
                         c.name + "." + c.type + " %r3, [" + place +
                         "], %r1; st.global.u32 [%o], %r3; bar.sync 0; ld." + space +
                         ".u32 %r4, [" + place + "]; st.global.u32 [%o+4], %r4;";
      Outcome run =
          launch(wrap(body, ".shared .align 4 .u32 cell;\n.global .align 4 .u32 gcell;\n"), in, 32);
      uint32_t value = c.start;
      for (uint32_t i = 0; i < 32; ++i) {
        EXPECT_EQ(run.out[i][0], value) << c.name << " " << i;
        value = c.step(value, in[i][0]);
      }
      EXPECT_EQ(run.out[7][1], value) << c.name;
    }
  Outcome cas = launch(
      wrap("atom.global.cas.b32 %r1, [cell], %r0, 77; st.global.u32 [%o], %r1; red.global.add.u64 "
           "[wide], 2; bar.sync 0; ld.global.u64 %d1, [wide]; st.global.u64 [%o+8], %d1;",
           ".global .u32 cell;\n.global .u64 wide;\n"),
      {Words{}}, 4);
  EXPECT_EQ(cas.out[0][0], 0u);
  EXPECT_EQ(cas.out[1][0], 77u);
  EXPECT_EQ(cas.out[3][2], 8u);
  // Halves, and blocks on several host threads.
  LaunchOptions options;
  options.threads = 2;
  Outcome many = launch(wrap("mov.b32 %r1, 0x3c003c00; red.global.add.noftz.f16x2 [cell], %r1; "
                             "red.global.add.u32 [count], 1;",
                             ".global .u32 cell;\n.global .u32 count;\n"),
                        {Words{}}, 64, options, 8);
  EXPECT_EQ(many.counters.atomics, 2u * 64 * 8);
}

TEST(Scalar, WarpExchange) {
  std::vector<Words> in(32);
  for (uint32_t i = 0; i < 32; ++i)
    in[i] = {i * i, i / 5, i % 2, 0};
  auto result = [&](const char *body) { return lanes(body, in, false); };
  auto bfly = result("shfl.sync.bfly.b32 %r10, %r1, 5, 31, -1;");
  auto down = result("shfl.sync.down.b32 %r10|%p1, %r1, 3, 31, -1; @!%p1 mov.u32 %r10, 7777;");
  auto up = result("shfl.sync.up.b32 %r10|%p1, %r1, 3, 0, -1; @!%p1 mov.u32 %r10, 7777;");
  auto index =
      result("shfl.sync.idx.b32 %r10, %r1, 9, 0x1810, -1;"); // segments of eight: 0x18 << 8
  auto segment = result("shfl.sync.idx.b32 %r10, %r1, 3, 0x181f, -1;");
  auto ballot = result("setp.eq.u32 %p1, %r3, 1; vote.sync.ballot.b32 %r10, %p1, -1;");
  auto any =
      result("setp.eq.u32 %p1, %r1, 4; vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, "
             "%p1, -1; vote.sync.uni.pred %p4, %p1, -1; selp.u32 %r5, 1, 0, %p2; selp.u32 %r6, 2, "
             "0, %p3; selp.u32 %r7, 4, 0, %p4; or.b32 %r10, %r5, %r6; or.b32 %r10, %r10, %r7;");
  auto match = result("match.any.sync.b32 %r10, %r2, -1;");
  auto all = result("match.all.sync.b32 %r10|%p1, %r2, -1;");
  auto sum = result("redux.sync.add.u32 %r10, %r1, -1;");
  auto least = result("sub.u32 %r5, %r1, 100; redux.sync.min.s32 %r10, %r5, -1;");
  auto bits = result("redux.sync.or.b32 %r10, %r1, -1;");
  auto elect = result("elect.sync %r5|%p1, -1; selp.u32 %r10, 1, 0, %p1;");
  auto active = result("activemask.b32 %r10;");
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(bfly[i], (i ^ 5) * (i ^ 5));
    EXPECT_EQ(down[i], i + 3 < 32 ? (i + 3) * (i + 3) : 7777);
    EXPECT_EQ(up[i], i >= 3 ? (i - 3) * (i - 3) : 7777);
    uint32_t start = i & 24;
    EXPECT_EQ(segment[i], (start + 3) * (start + 3));
    EXPECT_EQ(ballot[i], 0xaaaaaaaau);
    EXPECT_EQ(any[i], 1u);
    EXPECT_EQ(__builtin_popcount(static_cast<uint32_t>(match[i])), i < 30 ? 5 : 2);
    EXPECT_EQ(all[i], 0u);
    EXPECT_EQ(sum[i], 31u * 32 * 63 / 6);
    EXPECT_EQ(static_cast<int32_t>(least[i]), -100);
    EXPECT_EQ(bits[i] & 1, 1u);
    EXPECT_EQ(elect[i], i == 0 ? 1u : 0u);
    EXPECT_EQ(active[i], ~0u);
  }
  EXPECT_EQ(index.size(), 32u);
}

TEST(Scalar, DivergenceMeetsAgain) {
  // Nested ifs, loops with different trip counts, a switch, and a join that stands before an arm in
  // the text: afterwards the warp must be whole, which the aligned barrier checks.
  Outcome run = launch(wrap(R"(
    and.b32 %r1, %r0, 3;
    mov.u32 %r10, 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra FAR;
  JOIN:
    bar.warp.sync -1;
    mov.u32 %r2, %r1;
  LOOP:
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra DONE;
    add.u32 %r10, %r10, 10;
    sub.u32 %r2, %r2, 1;
    setp.gt.u32 %p3, %r0, 15;
    @%p3 bra SKIP;
    add.u32 %r10, %r10, 1;
  SKIP:
    bra.uni LOOP;
  DONE:
    bar.sync 0;
  LIST: .branchtargets C0, C1, C2, C1;
    brx.idx %r1, LIST;
  C0: add.u32 %r10, %r10, 1000; bra.uni END;
  C1: add.u32 %r10, %r10, 2000; bra.uni END;
  C2: add.u32 %r10, %r10, 3000;
  END:
    barrier.sync.aligned 0;
    st.global.u32 [%o], %r10;
    ret;
  FAR:
    add.u32 %r10, %r10, 100000;
    bra.uni JOIN;)"),
                       {Words{}}, 32);
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t r = i & 3, each = i > 15 ? 10 : 11, last[] = {1000, 2000, 3000, 2000};
    EXPECT_EQ(run.out[i][0], (r == 0 ? 100000 : 0) + each * r + last[r]) << i;
  }
  EXPECT_GT(run.counters.divergentBranches, 0u);
}

TEST(Scalar, BarriersWithNumbersAndCounts) {
  // Two producers and two consumers on barriers 1 and 2, four times.
  Outcome run = launch(wrap(R"(
    shr.u32 %r1, %r0, 6;
    mov.u32 %r2, 0;
    mov.u32 %r10, 0;
    and.b32 %r5, %r0, 63;
    shl.b32 %r6, %r5, 2;
    mov.u32 %r7, tile;
    add.u32 %r7, %r7, %r6;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra CONSUME;
  PRODUCE:
    setp.eq.u32 %p3, %r2, 0;
    @%p3 bra FIRST;
    bar.sync 2, 128;
  FIRST:
    mad.lo.u32 %r8, %r5, 100, %r2;
    st.shared.u32 [%r7], %r8;
    bar.arrive 1, 128;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, 4;
    @%p2 bra PRODUCE;
    bra.uni END;
  CONSUME:
    bar.sync 1, 128;
    xor.b32 %r9, %r7, 4;
    ld.shared.u32 %r8, [%r9];
    add.u32 %r10, %r10, %r8;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, 4;
    @!%p2 bra END;
    bar.arrive 2, 128;
    bra.uni CONSUME;
  END:
    bar.red.popc.u32 %r11, 0, %p1;
    bar.red.or.pred %p4, 0, %p1;
    selp.u32 %r12, 1, 0, %p4;
    st.global.v4.u32 [%o], {%r10, %r11, %r12, 0};)",
                            ".shared .align 16 .b8 tile[256];\n"),
                       {Words{}}, 128);
  for (uint32_t i = 0; i < 128; ++i) {
    EXPECT_EQ(run.out[i][0], i < 64 ? 0 : 4 * 100 * ((i & 63) ^ 1) + 6) << i;
    EXPECT_EQ(run.out[i][1], 64u);
    EXPECT_EQ(run.out[i][2], 1u);
  }
}

} // namespace
} // namespace fovea::emulator::test
