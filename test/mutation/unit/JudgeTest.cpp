// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bugs of each verdict in one small kernel, and each reason why one may be harmless beside a bug
// that looks like it and is not.
#include "test/mutation/Judge.h"

#include <gtest/gtest.h>

#include <cstring>

namespace fovea::mutation {
namespace {

constexpr uint32_t kThreads = 64, kRows = 50;

/// Turns rows of numbers round within a block by shared memory, adds one to numbers below 1000, and
/// leaves places past the end alone.
const char *const kReverse = R"(.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 tile[];
.visible .entry k(.param .u64 k_out, .param .u64 k_in, .param .u64 k_n)
{
  .reg .pred %p<8>;
  .reg .b32 %r<32>;
  .reg .b64 %rd<16>;
  ld.param.b64 %rd1, [k_out];
  ld.param.b64 %rd2, [k_in];
  ld.param.b64 %rd3, [k_n];
  mov.u32 %r1, %tid.x;
  mov.u32 %r20, %ctaid.x;
  setp.ne.b32 %p7, %r20, 0;
  @%p7 bra END;
  cvt.u64.u32 %rd4, %r1;
  setp.ge.u64 %p1, %rd4, %rd3;
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd6, %rd2, %rd5;
  mov.b32 %r2, 0f40A00000;
  setp.lt.u32 %p6, %r1, 64;
  @%p1 bra LOADED;
  ld.global.b32 %r2, [%rd6];
LOADED:
  bar.sync 0;
  mov.b32 %r3, tile;
  shl.b32 %r4, %r1, 2;
  add.s32 %r5, %r3, %r4;
  st.shared.b32 [%r5], %r2;
  bar.sync 0;
  xor.b32 %r6, %r5, 252;
  ld.shared.b32 %r7, [%r6];
  bar.sync 0;
  setp.gt.s64 %p2, %rd3, 1000000;
  @%p2 bra END;
  add.f32 %r9, %r7, 0f00000000;
  sub.s32 %r10, 63, %r1;
  cvt.u64.u32 %rd7, %r10;
  setp.ge.u64 %p3, %rd7, %rd3;
  selp.f32 %r11, 0f00000000, %r9, %p3;
  or.pred %p4, %p1, %p3;
  add.s64 %rd8, %rd1, %rd5;
  @%p4 bra END;
  st.global.b32 [%rd8], %r11;
END:
  ret;
}
)";

Kernel makeKernel() {
  Kernel kernel{"reverse", "k", kReverse, {}};
  for (uint32_t rows : {kRows, kThreads}) {
    std::vector<float> in(rows), out(rows, -1);
    for (uint32_t i = 0; i < rows; ++i)
      in[i] = static_cast<float>(i) * 0.5f + 3;
    auto buffer = [](const std::vector<float> &values) {
      Argument argument;
      argument.kind = Argument::Buffer;
      argument.bytes.resize(values.size() * 4);
      std::memcpy(argument.bytes.data(), values.data(), argument.bytes.size());
      return argument;
    };
    Call call;
    call.arguments = {buffer(out), buffer(in)};
    call.arguments.emplace_back().number = rows;
    call.threads = kThreads;
    call.sharedBytes = kThreads * 4;
    call.grid[0] = 8;
    call.padded = true;
    for (uint32_t i = 0; i < rows; ++i)
      if (kThreads - 1 - i < rows)
        out[i] = in[kThreads - 1 - i];
    call.check = [expected = buffer(out).bytes](const Results &results) {
      return results[0] == expected ? "" : "other numbers";
    };
    kernel.calls.push_back(std::move(call));
  }
  return kernel;
}

/// The statement that holds `before`, with `after` in its place.
Mutant makeMutant(const Ptx &ptx, const std::string &before, const std::string &after,
                  int which = 0) {
  Mutant mutant;
  for (size_t i = 0; i < ptx.statements().size(); ++i)
    if (ptx.statements()[i].text() == before && which-- == 0) {
      mutant.site = i;
      mutant.text = ptx.replace(i, after);
    }
  EXPECT_NE(mutant.text, "") << before;
  return mutant;
}

struct Case {
  const char *before, *after;
  Verdict::Kind kind;
  const char *what;
  int which = 0;
};

const Case kCases[] = {
    {"bar.sync 0;", "", Verdict::Harmless, "no shared access between barriers", 0},
    {"bar.sync 0;", "", Verdict::Check, "unwritten", 1},
    {"bar.sync 0;", "", Verdict::Harmless, "no shared access between barriers", 2},
    {"ld.global.b32 %r2, [%rd6];", "ld.global.b32 %r2, [%rd6+4];", Verdict::Check, "bounds"},
    {"st.shared.b32 [%r5], %r2;", "", Verdict::Check, "unwritten"},
    {"shl.b32 %r4, %r1, 2;", "shl.b32 %r4, %r1, 1;", Verdict::Check, "alignment"},
    {"xor.b32 %r6, %r5, 252;", "xor.b32 %r6, %r5, 248;", Verdict::Result, "wrong result"},
    {"setp.ne.b32 %p7, %r20, 0;", "setp.ne.b32 %p7, %r20, 1;", Verdict::Result, "wrong result"},
    {"@%p7 bra END;", "", Verdict::Check, "blocks"},
    {"sub.s32 %r10, 63, %r1;", "sub.x32 %r10, 63, %r1;", Verdict::Invalid, "invalid"},
    // Nobody gets there.
    {"@%p2 bra END;", "@!%p2 bra END;", Verdict::Result, "wrong result"},
    // For 64 threads, 64 and 65 are one bound; 63 is not, but nobody reads it.
    {"setp.lt.u32 %p6, %r1, 64;", "setp.lt.u32 %p6, %r1, 65;", Verdict::Harmless,
     "the same value for each thread"},
    {"setp.gt.s64 %p2, %rd3, 1000000;", "setp.gt.s64 %p2, %rd3, 999999;", Verdict::Harmless,
     "the same value in every run"},
    {"setp.gt.s64 %p2, %rd3, 1000000;", "setp.gt.s64 %p2, %rd3, 60;", Verdict::Result,
     "wrong result"},
    // What is loaded for places past the end is thrown away.
    {"mov.b32 %r2, 0f40A00000;", "mov.b32 %r2, 0f40000000;", Verdict::Harmless,
     "the value does not matter"},
    {"add.f32 %r9, %r7, 0f00000000;", "sub.f32 %r9, %r7, 0f00000000;", Verdict::Harmless,
     "the same value in every run"},
    {"selp.f32 %r11, 0f00000000, %r9, %p3;", "mov.b32 %r11, %r9;", Verdict::Harmless,
     "the value does not matter"},
    {"selp.f32 %r11, 0f00000000, %r9, %p3;", "selp.f32 %r11, %r9, 0f00000000, %p3;",
     Verdict::Result, "wrong result"},
};

template <size_t N> void check(Kernel kernel, const Case (&cases)[N]) {
  Judge judge(std::move(kernel));
  ASSERT_EQ(judge.problem(), "");
  for (const Case &one : cases) {
    Verdict verdict = judge.judge(makeMutant(judge.ptx(), one.before, one.after, one.which));
    EXPECT_EQ(verdict.kind, one.kind) << one.before << " -> " << one.after;
    EXPECT_EQ(verdict.what, one.what) << one.before << " -> " << one.after << verdict.message;
  }
}

TEST(Judge, TellsBugsFromHarmlessChanges) { check(makeKernel(), kCases); }

/// Fetches 32 numbers twice, by two halves of the threads, and each half could write all of them,
/// and who it is, which nobody asks.
const char *const kTwice = R"(.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 tile[];
.visible .entry k(.param .u64 k_out, .param .u64 k_in)
{
  .reg .pred %p<8>;
  .reg .b32 %r<32>;
  .reg .b64 %rd<16>;
  ld.param.b64 %rd1, [k_out];
  ld.param.b64 %rd2, [k_in];
  mov.u32 %r1, %tid.x;
  mov.u32 %r20, %ctaid.x;
  setp.ne.b32 %p7, %r20, 0;
  @%p7 bra END;
  mov.b64 %rd3, tile;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd3, %rd4;
  and.b32 %r2, %r1, 31;
  mul.wide.u32 %rd6, %r2, 4;
  add.s64 %rd7, %rd2, %rd6;
  cp.async.ca.shared.global [%rd5], [%rd7], 4;
  cp.async.commit_group;
  cp.async.commit_group;
  cp.async.wait_group 1;
  bar.sync 0;
  xor.b32 %r3, %r1, 32;
  mul.wide.u32 %rd8, %r3, 4;
  add.s64 %rd9, %rd3, %rd8;
  ld.shared.b32 %r4, [%rd9];
  bar.sync 0;
  cp.async.ca.shared.global [%rd5+256], [%rd7], 4;
  bar.sync 0;
  cp.async.commit_group;
  bar.sync 0;
  cp.async.wait_group 0;
  cp.async.commit_group;
  cp.async.wait_group 0;
  bar.sync 0;
  ld.shared.b32 %r11, [%rd5];
  and.b32 %r5, %r1, 15;
  mul.wide.u32 %rd10, %r5, 4;
  add.s64 %rd11, %rd3, %rd10;
  setp.gt.u32 %p1, %r1, 15;
  @%p1 bra STORED;
  mov.b32 %r6, 7;
  st.shared.b32 [%rd11+512], %r6;
STORED:
  bar.sync 0;
  ld.shared.b32 %r7, [%rd11+512];
  add.s32 %r8, %r4, %r7;
  and.b32 %r9, %r1, 32;
  add.s64 %rd12, %rd1, %rd6;
  setp.ne.b32 %p2, %r9, 0;
  @%p2 bra NAMED;
  st.global.b32 [%rd12], %r8;
NAMED:
  setp.eq.b32 %p3, %r9, 0;
  @%p3 bra END;
  st.global.b32 [%rd12+128], %r1;
END:
  ret;
}
)";

Kernel makeTwice() {
  Kernel kernel{"twice", "k", kTwice, {}};
  Call &call = kernel.calls.emplace_back();
  std::vector<uint32_t> in(32), out(64);
  for (uint32_t i = 0; i < 32; ++i)
    out[i] = 7 + (in[i] = 1000 + i * i);
  for (const std::vector<uint32_t> &values : {std::vector<uint32_t>(64), in}) {
    Argument &argument = call.arguments.emplace_back();
    argument.kind = Argument::Buffer;
    argument.bytes.resize(values.size() * 4);
    std::memcpy(argument.bytes.data(), values.data(), argument.bytes.size());
  }
  call.threads = kThreads;
  call.sharedBytes = 1024;
  call.grid[0] = 2;
  call.padded = true;
  call.check = [=](const Results &results) {
    return std::memcmp(results[0].data(), out.data(), 128) == 0 ? "" : "other numbers";
  };
  return kernel;
}

const Case kTwiceCases[] = {
    // One group more is the empty one, or what is read, or what nobody reads.
    {"cp.async.wait_group 1;", "cp.async.wait_group 2;", Verdict::Check, "race"},
    {"cp.async.wait_group 0;", "cp.async.wait_group 1;", Verdict::Survived, "", 0},
    {"cp.async.wait_group 0;", "cp.async.wait_group 1;", Verdict::Harmless,
     "only groups without copies stay open", 1},
    {"cp.async.wait_group 0;", "cp.async.wait_group 2;", Verdict::Harmless,
     "only groups without copies stay open", 1},
    // A barrier matters to what is loaded, copied and waited for, not to what commits.
    {"bar.sync 0;", "", Verdict::Check, "unwritten", 0},
    {"bar.sync 0;", "", Verdict::Survived, "", 1},
    {"bar.sync 0;", "", Verdict::Harmless, "no shared access between barriers", 2},
    {"bar.sync 0;", "", Verdict::Harmless, "no shared access between barriers", 3},
    {"bar.sync 0;", "", Verdict::Survived, "", 4},
    {"bar.sync 0;", "", Verdict::Check, "unwritten", 5},
    {"@%p1 bra STORED;", "@!%p1 bra STORED;", Verdict::Harmless,
     "other threads store the same there"},
    {"setp.gt.u32 %p1, %r1, 15;", "setp.gt.u32 %p1, %r1, 14;", Verdict::Check, "unwritten"},
    {"@%p2 bra NAMED;", "@!%p2 bra NAMED;", Verdict::Harmless,
     "each thread that holds a copy may do it"},
    {"setp.ne.b32 %p2, %r9, 0;", "setp.eq.b32 %p2, %r9, 0;", Verdict::Harmless,
     "each thread that holds a copy may do it"},
    {"@%p3 bra END;", "@!%p3 bra END;", Verdict::Survived, ""},
    {"setp.eq.b32 %p3, %r9, 0;", "setp.ne.b32 %p3, %r9, 0;", Verdict::Survived, ""},
};

TEST(Judge, ExplainsCopiesAndThreadsThatHoldTheSame) { check(makeTwice(), kTwiceCases); }

/// A barrier behind the load that it stands before: one's own number, and another thread's.
TEST(Judge, ExplainsBarriersThatAreLate) {
  Judge judge(makeTwice());
  ASSERT_EQ(judge.problem(), "");
  for (const auto &[load, what] :
       {std::pair("ld.shared.b32 %r11, [%rd5];", "the load is the same before it"),
        {"ld.shared.b32 %r7, [%rd11+512];", "unwritten"}}) {
    Mutant mutant = makeMutant(judge.ptx(), load, "");
    size_t place = mutant.site--;
    mutant.text = judge.ptx().replace(mutant.site, "", place, std::string(load) + " bar.sync 0;");
    EXPECT_EQ(judge.judge(mutant).what, what);
  }
}

TEST(Judge, SaysThatTheRightKernelIsWrong) {
  Kernel kernel = makeKernel();
  kernel.ptx.replace(kernel.ptx.find("252"), 3, "248");
  EXPECT_EQ(Judge(kernel).problem(), "other numbers");
}

TEST(Judge, FindsWhatIsNeverReached) {
  Kernel kernel = makeKernel();
  size_t at = kernel.ptx.find("  add.f32 %r9");
  kernel.ptx.insert(at, "  @!%p2 bra ON;\n  st.global.b32 [%rd1], %r7;\nON:\n");
  Judge judge(kernel);
  ASSERT_EQ(judge.problem(), "");
  Verdict verdict = judge.judge(makeMutant(judge.ptx(), "st.global.b32 [%rd1], %r7;", ""));
  EXPECT_EQ(verdict.kind, Verdict::Harmless);
  EXPECT_EQ(verdict.what, "never reached");
}

} // namespace
} // namespace fovea::mutation
