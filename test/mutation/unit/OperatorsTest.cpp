// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each mutation operator on a few lines of PTX that it must change in one way; what it writes must
// be PTX to the emulator. So an operator that no kernel draws at present still works.
#include "emulator/Launch.h"
#include "test/mutation/Judge.h"

#include <gtest/gtest.h>

#include <set>

namespace fovea::mutation {
namespace {

/// A kernel for any body. Its registers count from zero, so that a register of each class has been
/// written before.
std::string wrap(const std::string &body) {
  return R"(.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 128 .b8 tile[];
.visible .entry k(.param .u64 k_out)
{
  .reg .pred %p<8>;
  .reg .b16 %rs<32>;
  .reg .b32 %r<32>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [k_out];
  mov.u32 %r1, %tid.x;
  mov.b32 %r2, 5;
  mov.b32 %r3, 0f3F800000;
  mov.b64 %rd2, 64;
  setp.lt.u32 %p1, %r1, 1000;
)" + body +
         "\nEND:\n  ret;\n}\n";
}

struct Example {
  const char *op, *body;             ///< applied at the last statement that it matches in the body
  std::vector<const char *> written; ///< one of these
};

class OnStatement : public testing::TestWithParam<Example> {};

const Example kExamples[] = {
    {"barrier removed", "bar.sync 0;", {"(nothing)"}},
    {"barrier late",
     "bar.sync 0;\nadd.s32 %r4, %r1, %r2;\nst.shared.b32 [%r2+8], %r4;\nbar.sync 0;",
     {"(moved) st.shared.b32 [%r2+8], %r4; bar.sync 0;"}},
    {"warp barrier removed", "bar.warp.sync -1;", {"(nothing)"}},
    {"wait weakened", "cp.async.wait_group 0;", {"cp.async.wait_group 1;"}},
    {"wait weakened", "cp.async.wait_all;", {"cp.async.wait_group 1;"}},
    {"wait weakened", "wgmma.wait_group.sync.aligned 1;", {"wgmma.wait_group.sync.aligned 2;"}},
    {"commit dropped", "wgmma.commit_group.sync.aligned;", {"(nothing)"}},
    {"commit dropped", "cp.async.commit_group;", {"(nothing)"}},
    {"fence dropped", "fence.proxy.async.shared::cta;", {"(nothing)"}},
    {"fence dropped", "wgmma.fence.sync.aligned;", {"(nothing)"}},
    {"mbarrier wait removed",
     "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], %r1;",
     {"setp.eq.u32 %p2, 0, 0;"}},
    {"phase flipped",
     "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], %r1;",
     {"xor.b32 %r1, %r1, 1; mbarrier.try_wait.parity.shared.b64 %p2, [%r2], %r1; "
      "xor.b32 %r1, %r1, 1;"}},
    {"phase flipped",
     "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 1;",
     {"mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;"}},
    {"arrival dropped", "mbarrier.arrive.shared.b64 _, [%r2];", {"(nothing)"}},
    {"expectation off",
     "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 64;",
     {"mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 80;",
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 48;"}},
    {"arrivals off", "mbarrier.init.shared.b64 [%r2], 1;", {"mbarrier.init.shared.b64 [%r2], 2;"}},
    {"offset off",
     "ld.global.b32 %r4, [%rd1+8];",
     {"ld.global.b32 %r4, [%rd1+12];", "ld.global.b32 %r4, [%rd1+4];"}},
    {"offset off",
     "st.shared.v4.b32 [%r2], {%r1, %r2, %r1, %r2};",
     {"st.shared.v4.b32 [%r2+16], {%r1, %r2, %r1, %r2};",
      "st.shared.v4.b32 [%r2+-16], {%r1, %r2, %r1, %r2};"}},
    {"index off", "or.b64 %rd3, %rd2, 8;", {"or.b64 %rd3, %rd2, 9;", "or.b64 %rd3, %rd2, 7;"}},
    {"index off",
     "mad.lo.s64 %rd3, %rd2, 768, %rd1;",
     {"mad.lo.s64 %rd3, %rd2, 769, %rd1;", "mad.lo.s64 %rd3, %rd2, 767, %rd1;"}},
    {"shift off", "shl.b32 %r4, %r1, 2;", {"shl.b32 %r4, %r1, 3;", "shl.b32 %r4, %r1, 1;"}},
    {"bit flipped", "and.b32 %r4, %r1, 8;", {"and.b32 %r4, %r1, 0;"}},
    {"bit flipped", "xor.b32 %r4, %r1, 16;", {"xor.b32 %r4, %r1, 0;", "xor.b32 %r4, %r1, 48;"}},
    {"swizzle flipped",
     "xor.b32 %r4, %r1, %r2;",
     {"xor.b32 %r4, %r1, %r2; xor.b32 %r4, %r4, 16;",
      "xor.b32 %r4, %r1, %r2; xor.b32 %r4, %r4, 32;",
      "xor.b32 %r4, %r1, %r2; xor.b32 %r4, %r4, 64;"}},
    {"coordinate off",
     "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, "
     "{%r1, %r1}], [%r2];",
     {"add.s32 %r1, %r1, 1; "
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, "
      "{%r1, %r1}], [%r2]; sub.s32 %r1, %r1, 1;"}},
    {"descriptor off",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r4, %r5, %r6, %r7}, %rd1, %rd2, %p1, "
     "1, 1, 0, 0;",
     {"add.s64 %rd1, %rd1, 1; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r4, %r5, %r6, "
      "%r7}, %rd1, %rd2, %p1, 1, 1, 0, 0; sub.s64 %rd1, %rd1, 1;"}},
    {"bound off",
     "setp.gt.u32 %p2, %r1, 63;",
     {"setp.gt.u32 %p2, %r1, 64;", "setp.gt.u32 %p2, %r1, 62;"}},
    {"bound shifted", "setp.le.s64 %p2, %rd1, %rd2;", {"setp.lt.s64 %p2, %rd1, %rd2;"}},
    {"comparison turned", "setp.gt.f32 %p2, %r1, %r2;", {"setp.lt.f32 %p2, %r1, %r2;"}},
    {"predicate negated", "@%p1 bra END;", {"@!%p1 bra END;"}},
    {"predicate negated", "@!%p1 bra END;", {"@%p1 bra END;"}},
    {"conditions joined", "and.pred %p2, %p1, %p1;", {"or.pred %p2, %p1, %p1;"}},
    {"choice turned", "selp.f32 %r4, %r1, %r2, %p1;", {"selp.f32 %r4, %r2, %r1, %p1;"}},
    {"extreme turned", "max.f32 %r4, %r1, %r2;", {"min.f32 %r4, %r1, %r2;"}},
    {"shuffle changed",
     "shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;",
     {"shfl.sync.bfly.b32 %r4, %r1, 2, 31, -1;"}},
    {"shuffle changed",
     "shfl.sync.bfly.b32 %r4, %r1, 4, 31, -1;",
     {"shfl.sync.bfly.b32 %r4, %r1, 8, 31, -1;", "shfl.sync.bfly.b32 %r4, %r1, 2, 31, -1;"}},
    {"shuffle dropped", "shfl.sync.bfly.b32 %r4|%p2, %r1, 1, 31, -1;", {"mov.b32 %r4, %r1;"}},
    {"operand stale",
     "mov.b32 %r4, 7;\nmul.lo.s32 %r5, %r1, 3;",
     {"mul.lo.s32 %r5, %r2, 3;", "mul.lo.s32 %r5, %r3, 3;", "mul.lo.s32 %r5, %r4, 3;"}},
    {"product turned", "fma.rn.f32 %r4, %r1, %r2, %r3;", {"fma.rn.f32 %r4, %r1, %r3, %r2;"}},
    {"sum lost", "fma.rn.f32 %r4, %r1, %r2, %r3;", {"mul.rn.f32 %r4, %r1, %r2;"}},
    {"sign changed", "sub.f32 %r4, %r1, %r2;", {"add.f32 %r4, %r1, %r2;"}},
    {"constant changed", "mul.f32 %r4, %r3, 0f3E800000;", {"mul.f32 %r4, %r3, 0f3E000000;"}},
    {"constant changed", "add.f32 %r4, %r3, 0f00000000;", {"add.f32 %r4, %r3, 0f3F800000;"}},
    {"rounding changed", "cvt.rn.bf16.f32 %rs1, %r3;", {"cvt.rz.bf16.f32 %rs1, %r3;"}},
    {"16-bit type changed", "cvt.rn.bf16.f32 %rs1, %r3;", {"cvt.rn.f16.f32 %rs1, %r3;"}},
    {"fragment turned",
     "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%r4, %r5, %r6, %r7},\n  {%r1, %r2}, "
     "{%r3}, {%r8, %r9, %r10, %r11};",
     {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%r4, %r5, %r6, %r7}, {%r2, %r1}, {%r3}, "
      "{%r8, %r9, %r10, %r11};"}},
    {"transposition toggled",
     "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r4, %r5, %r6, %r7}, [%r2];",
     {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r2];"}},
    {"transposition toggled",
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r2];",
     {"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r4}, [%r2];"}},
    {"load stale",
     "ld.global.b32 %r4, [%rd1];",
     {"mov.b32 %r4, %r1;", "mov.b32 %r4, %r2;", "mov.b32 %r4, %r3;"}},
    {"store dropped", "st.global.b32 [%rd1], %r1;", {"(nothing)"}},
    {"store dropped", "cp.async.cg.shared.global [%r2], [%rd1], 16;", {"(nothing)"}},
    {"store stale",
     "st.global.b32 [%rd1], %r1;",
     {"st.global.b32 [%rd1], %r2;", "st.global.b32 [%rd1], %r3;"}},
    {"vector turned",
     "ld.global.v2.b32 {%r4, %r5}, [%rd1];",
     {"ld.global.v2.b32 {%r5, %r4}, [%rd1];"}},
};

TEST_P(OnStatement, WritesTheBug) {
  const Example &example = GetParam();
  Ptx ptx(wrap(example.body));
  EXPECT_EQ(ptx.text(), wrap(example.body));
  const Operator *op = nullptr;
  for (const Operator &each : operators())
    if (std::string(each.name) == example.op)
      op = &each;
  ASSERT_TRUE(op);
  std::vector<size_t> sites = sitesOf(*op, ptx);
  while (!sites.empty() && ptx.statements()[sites.back()].begin <
                               ptx.text().find(std::string(example.body).substr(0, 8)))
    sites.pop_back();
  ASSERT_FALSE(sites.empty()) << "matches nothing";
  // What is drawn last may be one of several sites of the body.
  size_t site = std::string(example.op) == "barrier late" ? sites.front() : sites.back();
  std::set<std::string> seen;
  for (int seed = 0; seed < 40; ++seed) {
    Random random(static_cast<uint64_t>(seed));
    Mutant mutant = mutate(*op, ptx, site, random);
    ASSERT_NE(mutant.text, "");
    EXPECT_NE(mutant.text, ptx.text());
    EXPECT_EQ(std::count(mutant.text.begin(), mutant.text.end(), '\n'),
              std::count(ptx.text().begin(), ptx.text().end(), '\n'));
    seen.insert(mutant.after);
    emulator::Device device;
    try {
      auto program = device.load(emulator::Module::parse(mutant.text, "mutant.ptx"));
      device.kernel(*program, "k");
    } catch (const std::exception &error) {
      FAIL() << error.what() << "\n" << mutant.text;
    }
  }
  std::set<std::string> expected(example.written.begin(), example.written.end());
  EXPECT_EQ(seen, expected);
}

INSTANTIATE_TEST_SUITE_P(All, OnStatement, testing::ValuesIn(kExamples),
                         [](const testing::TestParamInfo<Example> &info) {
                           std::string name = info.param.op;
                           for (char &c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name + "_" + std::to_string(info.index);
                         });

TEST(Operators, EachHasAnExample) {
  std::set<std::string> shown;
  for (const Example &example : kExamples)
    shown.insert(example.op);
  for (const Operator &op : operators())
    EXPECT_TRUE(shown.count(op.name)) << op.name;
}

TEST(Ptx, SplitsStatements) {
  Ptx ptx(wrap("A: // comment; with a semicolon\n  @!%p1 bra END;\n { .reg .pred q; setp.ne.b32 q, "
               "1, 0; }\n mma.x {%r1,\n  %r2}, {%r3};"));
  const std::vector<Statement> &all = ptx.statements();
  ASSERT_EQ(all.size(), 10u);
  EXPECT_EQ(all[6].text(), "@!%p1 bra END;");
  EXPECT_TRUE(all[6].labelled);
  EXPECT_EQ(ptx.successors(6), (std::vector<size_t>{9, 7}));
  EXPECT_EQ(all[7].operands, (std::vector<std::string>{"q", "1", "0"}));
  EXPECT_EQ(all[8].text(), "mma.x {%r1,   %r2}, {%r3};");
  EXPECT_EQ(all[8].line, 20u);
  EXPECT_TRUE(all[9].labelled);
}

} // namespace
} // namespace fovea::mutation
