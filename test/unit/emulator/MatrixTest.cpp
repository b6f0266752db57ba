// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync in all its types, ldmatrix, stmatrix, movmatrix and cp.async. The test writes its
// matrices by the layouts of the PTX manual, element by element, and multiplies in f64.
#include "emulator/Float.h"
#include "test/unit/emulator/Kernels.h"

#include <cmath>
#include <random>

namespace fovea::emulator::test {
namespace {

uint32_t bitsOfFloat(float x) { return bitsAs<uint32_t>(x); }

/// Runs `body` for one warp; each thread has `in` words of input at [%i] and gives `out` at [%o].
std::vector<uint32_t> warp(const std::string &body, const std::vector<uint32_t> &in, uint32_t out,
                           const std::string &globals = "", LaunchOptions options = {}) {
  uint32_t inWords = static_cast<uint32_t>(in.size() / 32);
  std::string ptx =
      header() + globals +
      ".entry k(.param .u64 po, .param .u64 pi) {\n"
      ".reg .pred %p<8>; .reg .b32 %r<128>; .reg .b64 %d<32>, %o, %i, %base;\n"
      "ld.param.u64 %o, [po]; ld.param.u64 %i, [pi]; mov.u64 %base, %i; mov.u32 %r0, %tid.x;\n"
      "mul.wide.u32 %d0, %r0, " +
      std::to_string(4 * out) +
      "; add.s64 %o, %o, %d0;\n"
      "mul.wide.u32 %d0, %r0, " +
      std::to_string(4 * inWords) + "; add.s64 %i, %i, %d0;\n" + body + "\nret;\n}\n";
  Device device;
  auto program = device.load(Module::parse(ptx, "warp.ptx"));
  uint64_t from = device.memory().allocate(in.size() * 4, "in"),
           to = device.memory().allocate(128 * out, "out");
  device.memory().write(from, in.data(), in.size() * 4);
  LaunchShape shape;
  shape.block[0] = 32;
  device.launch(*program, "k", shape, Arguments().add(to).add(from), options);
  std::vector<uint32_t> result(32 * out);
  device.memory().read(to, result.data(), 128 * out);
  return result;
}

std::string list(const char *prefix, unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(prefix) + std::to_string(first + i);
  return text + "}";
}

struct MmaCase {
  const char *form, *kind; // of a and b
  unsigned k, bits;
  bool half; // accumulators
};

void PrintTo(const MmaCase &c, std::ostream *out) { *out << c.form; }

class Mma : public testing::TestWithParam<MmaCase> {};

TEST_P(Mma, AgreesWithTheLayoutsOfTheManual) {
  const MmaCase c = GetParam();
  const std::string kind = c.kind;
  const bool integers = kind == "s8" || kind == "u8";
  std::mt19937 random(5);
  auto encode = [&](float x) -> uint32_t {
    if (kind == "f16")
      return toF16(x);
    if (kind == "bf16")
      return toBf16(x);
    if (kind == "tf32")
      return bitsOfFloat(x) & 0xffffe000;
    if (kind == "e4m3")
      return toE4M3(x);
    if (kind == "e5m2")
      return toE5M2(x);
    return static_cast<uint8_t>(static_cast<int>(x));
  };
  auto decode = [&](uint32_t x) -> double {
    if (kind == "f16")
      return fromF16(static_cast<uint16_t>(x));
    if (kind == "bf16")
      return fromBf16(static_cast<uint16_t>(x));
    if (kind == "tf32")
      return bitsAs<float>(x);
    if (kind == "e4m3")
      return fromE4M3(static_cast<uint8_t>(x));
    if (kind == "e5m2")
      return fromE5M2(static_cast<uint8_t>(x));
    return kind == "s8" ? static_cast<int8_t>(x) : static_cast<uint8_t>(x);
  };
  auto number = [&] {
    return integers ? static_cast<float>(random() % 256)
                    : static_cast<float>(random() % 64) / 16 - 2;
  };
  uint32_t a[16][32], b[32][8];
  float acc[16][8];
  for (auto &row : a)
    for (uint32_t &x : row)
      x = encode(number());
  for (auto &row : b)
    for (uint32_t &x : row)
      x = encode(number());
  for (auto &row : acc)
    for (float &x : row)
      x = static_cast<float>(random() % 32) - 16;

  const unsigned each = 32 / c.bits, aRegisters = 16 * c.k / 32 / each,
                 bRegisters = 8 * c.k / 32 / each, cRegisters = c.half ? 2 : 4;
  const unsigned words = aRegisters + bRegisters + cRegisters;
  std::vector<uint32_t> in;
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned group = lane >> 2, thread = lane % 4;
    // "Matrix Fragments for mma.m16n8k..": for a_i, row = group for even registers, group + 8 else.
    for (unsigned r = 0; r < aRegisters; ++r) {
      uint32_t word = 0;
      for (unsigned e = 0; e < each; ++e)
        word |= a[group + (r % 2 ? 8 : 0)][thread * each + e + (r >= 2 ? 4 * each : 0)]
                << (e * c.bits) % 32;
      in.push_back(word);
    }
    for (unsigned r = 0; r < bRegisters; ++r) {
      uint32_t word = 0;
      for (unsigned e = 0; e < each; ++e)
        word |= b[thread * each + e + (r ? 4 * each : 0)][group] << (e * c.bits) % 32;
      in.push_back(word);
    }
    for (unsigned r = 0; r < cRegisters; ++r) {
      if (c.half) {
        in.push_back(toF16(acc[group + 8 * r][2 * thread]) |
                     uint32_t{toF16(acc[group + 8 * r][2 * thread + 1])} << 16);
      } else {
        float x = acc[group + (r >= 2 ? 8 : 0)][2 * thread + r % 2];
        in.push_back(integers ? static_cast<uint32_t>(static_cast<int>(x)) : bitsOfFloat(x));
      }
    }
  }
  std::string body;
  for (unsigned i = 0; i < words; ++i)
    body += "ld.global.b32 %r" + std::to_string(10 + i) + ", [%i+" + std::to_string(4 * i) + "];\n";
  body += std::string("mma.sync.aligned.") + c.form + " " + list("%r", 40, cRegisters) + ", " +
          list("%r", 10, aRegisters) + ", " + list("%r", 10 + aRegisters, bRegisters) + ", " +
          list("%r", 10 + aRegisters + bRegisters, cRegisters) + ";\n";
  for (unsigned i = 0; i < cRegisters; ++i)
    body += "st.global.b32 [%o+" + std::to_string(4 * i) + "], %r" + std::to_string(40 + i) + ";\n";
  std::vector<uint32_t> out = warp(body, in, cRegisters);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      double expected = acc[row][column];
      for (unsigned i = 0; i < c.k; ++i)
        expected += decode(a[row][i]) * decode(b[i][column]);
      unsigned lane = row % 8 * 4 + column / 2;
      double got;
      if (c.half)
        got = fromF16(static_cast<uint16_t>(out[lane * 2 + row / 8] >> (16 * (column % 2))));
      else
        got = integers ? static_cast<int32_t>(out[lane * 4 + row / 8 * 2 + column % 2])
                       : bitsAs<float>(out[lane * 4 + row / 8 * 2 + column % 2]);
      ASSERT_NEAR(got, expected, integers ? 0 : c.half ? 0.1 : 1e-4) << row << " " << column;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Mma,
    testing::Values(MmaCase{"m16n8k16.row.col.f32.f16.f16.f32", "f16", 16, 16, false},
                    MmaCase{"m16n8k16.row.col.f16.f16.f16.f16", "f16", 16, 16, true},
                    MmaCase{"m16n8k16.row.col.f32.bf16.bf16.f32", "bf16", 16, 16, false},
                    MmaCase{"m16n8k8.row.col.f32.f16.f16.f32", "f16", 8, 16, false},
                    MmaCase{"m16n8k8.row.col.f32.bf16.bf16.f32", "bf16", 8, 16, false},
                    MmaCase{"m16n8k8.row.col.f32.tf32.tf32.f32", "tf32", 8, 32, false},
                    MmaCase{"m16n8k4.row.col.f32.tf32.tf32.f32", "tf32", 4, 32, false},
                    MmaCase{"m16n8k32.row.col.s32.s8.s8.s32", "s8", 32, 8, false},
                    MmaCase{"m16n8k32.row.col.satfinite.s32.u8.u8.s32", "u8", 32, 8, false},
                    MmaCase{"m16n8k16.row.col.s32.s8.s8.s32", "s8", 16, 8, false},
                    MmaCase{"m16n8k32.row.col.f32.e4m3.e4m3.f32", "e4m3", 32, 8, false},
                    MmaCase{"m16n8k32.row.col.f32.e5m2.e5m2.f32", "e5m2", 32, 8, false}));

TEST(Matrix, DoublesMultiply) {
  std::vector<uint32_t> in;
  double a[8][4], b[4][8];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j) {
      a[i][j] = i + 0.5 * j;
      b[j][i] = 2 * i - 3 * j;
    }
  for (int lane = 0; lane < 32; ++lane)
    for (double x : {a[lane / 4][lane % 4], b[lane % 4][lane / 4]}) {
      uint64_t bits = bitsAs<uint64_t>(x);
      in.push_back(static_cast<uint32_t>(bits));
      in.push_back(static_cast<uint32_t>(bits >> 32));
    }
  std::vector<uint32_t> out =
      warp("ld.global.v2.b64 {%d1, %d2}, [%i]; mov.b64 %d3, 0d3FF0000000000000;\n"
           "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d4, %d5}, {%d1}, {%d2}, {%d3, %d3};\n"
           "st.global.v2.b64 [%o], {%d4, %d5};",
           in, 4);
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) {
      double expected = 1;
      for (int i = 0; i < 4; ++i)
        expected += a[row][i] * b[i][column];
      size_t at = static_cast<size_t>((row * 4 + column / 2) * 4 + 2 * (column % 2));
      EXPECT_EQ(bitsAs<double>(out[at] | uint64_t{out[at + 1]} << 32), expected);
    }
}

/// Four 8 x 8 matrices in shared memory: element (m, i, j) is 1000 m + 10 i + j.
const std::string fill = R"(
  mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2; // row of lane: matrix l / 8, row l % 8
  shr.u32 %r3, %r0, 3; and.b32 %r4, %r0, 7; mul.lo.u32 %r5, %r3, 1000; mad.lo.u32 %r5, %r4, 10, %r5;
  add.u32 %r6, %r5, 1; prmt.b32 %r10, %r5, %r6, 0x5410;
  add.u32 %r11, %r10, 0x20002; add.u32 %r12, %r10, 0x40004; add.u32 %r13, %r10, 0x60006;
  st.shared.v4.b32 [%r1], {%r10, %r11, %r12, %r13};
  bar.warp.sync -1;
)";
const std::string tile = ".shared .align 16 .b8 tile[1024];\n";

TEST(Matrix, Ldmatrix) {
  std::vector<uint32_t> plain =
      warp(fill + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r1]; "
                  "st.global.v4.b32 [%o], {%r20, %r21, %r22, %r23};",
           std::vector<uint32_t>(32), 4, tile);
  std::vector<uint32_t> turned =
      warp(fill + "ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%r20, %r21}, [%r1]; "
                  "st.global.v2.b32 [%o], {%r20, %r21};",
           std::vector<uint32_t>(32), 2, tile);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t m = 0; m < 4; ++m)
      for (uint32_t e = 0; e < 2; ++e) {
        EXPECT_EQ(plain[lane * 4 + m] >> (16 * e) & 0xffff,
                  1000 * m + 10 * (lane / 4) + 2 * (lane % 4) + e);
        if (m < 2)
          EXPECT_EQ(turned[lane * 2 + m] >> (16 * e) & 0xffff,
                    1000 * m + 10 * (2 * (lane % 4) + e) + lane / 4);
      }
}

TEST(Matrix, StmatrixAndMovmatrix) {
  // Out by stmatrix, transposed on the way, and back by plain loads.
  std::string body = fill + R"(
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r1];
    movmatrix.sync.aligned.m8n8.trans.b16 %r20, %r20;
    bar.warp.sync -1;
    stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r1+512], {%r20, %r21, %r22, %r23};
    stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r1+128], {%r21};
    bar.warp.sync -1;
    ld.shared.v4.b32 {%r24, %r25, %r26, %r27}, [%r1+512]; st.global.v4.b32 [%o], {%r24, %r25, %r26, %r27};
    add.u32 %r1, %r1, 128; setp.lt.u32 %p1, %r0, 8; @%p1 ld.shared.v4.b32 {%r24, %r25, %r26, %r27}, [%r1];
    st.global.v4.b32 [%o+16], {%r24, %r25, %r26, %r27};)";
  std::vector<uint32_t> out = warp(body, std::vector<uint32_t>(32), 8, tile);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t j = 0; j < 8; ++j) {
      uint32_t m = lane / 8, i = lane % 8, got = out[lane * 8 + j / 2] >> (16 * (j % 2)) & 0xffff;
      EXPECT_EQ(got, m == 0 ? 10 * j + i : 1000 * m + 10 * i + j);
      if (lane < 8)
        EXPECT_EQ(out[lane * 8 + 4 + j / 2] >> (16 * (j % 2)) & 0xffff, 1000 + 10 * j + i);
    }
}

TEST(Matrix, AlignedInstructionsNeedTheWholeWarp) {
  EXPECT_FAULT(faultOf(wrap("setp.lt.u32 %p1, %r0, 8; @%p1 bra L; "
                            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [tile]; L:",
                            tile)),
               "expects all threads of the warp");
  EXPECT_FAULT(faultOf(wrap("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1, %r2, %r3, "
                            "%r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4};"),
                       16),
               "expects all 32 threads of the warp, got lanes 0xffff");
  EXPECT_FAULT(faultOf(wrap("mov.u32 %r1, tile; add.u32 %r1, %r1, 8; "
                            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r1];",
                            tile)),
               "expects a multiple of 16");
  EXPECT_FAULT(faultOf(wrap("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%r1, %r2, %r3, "
                            "%r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4};")),
               "is not supported");
  EXPECT_FAULT(faultOf(wrap("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, "
                            "%r4}, {%r1, %r2, %r3}, {%r1, %r2}, {%r1, %r2, %r3, %r4};")),
               "expects a vector of 4 registers, got 3");
}

TEST(Matrix, BankConflictsAreCounted) {
  // Rows 16 bytes apart: none. Rows 128 bytes apart: eight of a matrix meet in one bank.
  auto conflicts = [&](int stride) {
    std::string body = "mov.u32 %r1, tile; mov.u32 %r2, " + std::to_string(stride) +
                       "; and.b32 %r3, %r0, 7; mad.lo.u32 %r1, %r3, %r2, %r1;\n"
                       "st.shared.v4.b32 [%r1], {%r0, %r0, %r0, %r0}; bar.warp.sync -1; "
                       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r1];";
    LaunchOptions options;
    options.checkShared = false;
    return launch(wrap(body, tile), {Words{}}, 32, options).counters;
  };
  EXPECT_EQ(conflicts(16).bankConflicts(), 0u);
  Counters bad = conflicts(128);
  EXPECT_GE(bad.bankConflicts(), 7u);
  EXPECT_NE(bad.json().find("\"bank_conflict_lines\": [{\"line\""), std::string::npos);
  Counters strided =
      launch(wrap("mul.wide.u32 %d1, %r0, 256; add.s64 %d1, %in, %d1; ld.global.u32 %r1, [%d1];"),
             std::vector<Words>(1024), 32)
          .counters;
  EXPECT_EQ(strided.globalLoadSectors, 32u);
  EXPECT_EQ(strided.globalLoadBytes, 128u);
}

// --- cp.async
const std::string addresses =
    "mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2; xor.b32 %r3, %r1, 16;\n";

TEST(CpAsync, CopiesEarlyAndLate) {
  std::vector<uint32_t> in(32 * 4);
  for (uint32_t i = 0; i < in.size(); ++i)
    in[i] = i;
  std::string body = addresses + R"(
    cp.async.cg.shared.global [%r1], [%i], 16; cp.async.commit_group;
    mov.u32 %r9, 4;
    cp.async.ca.shared.global.L2::128B [%r1+512], [%i], 8, %r9; cp.async.commit_group;
    cp.async.wait_group 1; bar.warp.sync -1; ld.shared.v2.b32 {%r4, %r5}, [%r3+8];
    cp.async.wait_all; bar.warp.sync -1; ld.shared.v2.b32 {%r6, %r7}, [%r3+512];
    st.global.v4.b32 [%o], {%r4, %r5, %r6, %r7};)";
  for (auto schedule : {LaunchOptions::Schedule::Early, LaunchOptions::Schedule::Late}) {
    LaunchOptions options;
    options.schedule = schedule;
    std::vector<uint32_t> out = warp(body, in, 4, tile, options);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t other = lane ^ 1;
      EXPECT_EQ(out[lane * 4], other * 4 + 2);
      EXPECT_EQ(out[lane * 4 + 1], other * 4 + 3);
      EXPECT_EQ(out[lane * 4 + 2], other * 4);
      EXPECT_EQ(out[lane * 4 + 3], 0u); // past src-size
    }
  }
}

TEST(CpAsync, BytesInFlightAreNobodys) {
  std::string copy =
      addresses + "cp.async.cg.shared.global [%r1], [%i], 16; cp.async.commit_group;\n";
  EXPECT_FAULT(faultOf(wrap(copy + "ld.shared.u32 %r5, [%r1];", tile)),
               "which is in flight; expects cp.async.wait_group before");
  EXPECT_FAULT(faultOf(wrap(copy + "cp.async.wait_group 1; ld.shared.u32 %r5, [%r1];", tile)),
               "which is in flight");
  EXPECT_EQ(faultOf(wrap(copy + "cp.async.wait_group 0; ld.shared.u32 %r5, [%r1];", tile)), "");
  EXPECT_FAULT(faultOf(wrap(copy + "cp.async.wait_group 0; ld.shared.u32 %r5, [%r3];", tile)),
               "race on shared address");
  EXPECT_FAULT(faultOf(wrap(copy + "st.shared.u32 [%r1], 0;", tile)), "race on shared address");
  EXPECT_FAULT(
      faultOf(wrap(addresses +
                       "st.shared.v4.b32 [%r1], {1, 2, 3, 4}; bar.warp.sync -1; ld.shared.u32 "
                       "%r5, [%r3]; cp.async.cg.shared.global [%r1], [%i], 16;",
                   tile)),
      "copies to it without being ordered after the read by thread");
  EXPECT_FAULT(faultOf(wrap(addresses + "cp.async.cg.shared.global [%r1], [%i+8], 16;", tile)),
               "expects a multiple of 16");
  EXPECT_FAULT(faultOf(wrap(addresses + "cp.async.cg.shared.global [%r1], [%i], 8;", tile)),
               "expects a size of 16 bytes, got 8");
  EXPECT_FAULT(faultOf(wrap(addresses + "cp.async.cg.shared.global [%r1], [%in+512], 16;", tile)),
               "past the end of 'in'");
}

} // namespace
} // namespace fovea::emulator::test
