// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two kernels by hand whose order and number of blocks show in one number, for graphs of any
// device.
#ifndef FOVEA_TEST_UNIT_RUNTIME_GRAPHTEST_H
#define FOVEA_TEST_UNIT_RUNTIME_GRAPHTEST_H

#include "runtime/Device.h"

#include <gtest/gtest.h>

namespace fovea::test {

/// `plus` adds `a` to a number for each block, `times` multiplies it by `a`.
constexpr const char *kCounting = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry plus(.param .u64 x, .param .u64 a)
.reqntid 1
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [x];
  ld.param.u64 %rd1, [a];
  cvt.u32.u64 %r0, %rd1;
  atom.global.add.u32 %r1, [%rd0], %r0;
  ret;
}
.visible .entry times(.param .u64 x, .param .u64 a)
.reqntid 1
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [x];
  ld.param.u64 %rd1, [a];
  cvt.u32.u64 %r0, %rd1;
  ld.global.u32 %r1, [%rd0];
  mul.lo.u32 %r2, %r1, %r0;
  st.global.u32 [%rd0], %r2;
  ret;
}
)";

/// Kernels in one order and the other, more blocks and fewer, recordings that never run: each run
/// gives what the last recording says.
inline void runsWhatWasRecordedLast(Device &device) {
  enum : size_t { plus, times };
  std::unique_ptr<DeviceModule> module =
      device.load({"by hand", "sm_80", kCounting, {}, {{"plus", 1, 0}, {"times", 1, 0}}});
  uint64_t x = device.allocate(4, "a number");
  {
    std::unique_ptr<DeviceGraph> graph = module->makeGraph();
    struct Step {
      size_t kernel;
      int64_t blocks;
    };
    auto record = [&](std::initializer_list<Step> steps) {
      graph->begin();
      for (Step step : steps) {
        const int64_t words[] = {static_cast<int64_t>(x), 3};
        graph->add({step.kernel, step.blocks, words, 2, nullptr, 0});
      }
    };
    auto run = [&] {
      uint32_t number = 1;
      device.copyIn(x, &number, 4);
      graph->run();
      device.copyOut(&number, x, 4);
      device.synchronize();
      return number;
    };
    for (bool prepares : {false, true})
      for (int round = 0; round < 3; ++round) {
        for (int again = 0; again < 3; ++again) {
          record({{plus, 1}, {times, 1}});
          if (prepares)
            graph->prepare();
          EXPECT_EQ(run(), 12u);
        }
        for (int again = 0; again < 3; ++again) {
          record({{times, 1}, {plus, 1}});
          if (prepares)
            graph->prepare();
          EXPECT_EQ(run(), 6u);
          EXPECT_EQ(run(), 6u);
        }
        for (int64_t blocks : {1, 2, 5, 5, 4}) {
          record({{times, 1}, {plus, blocks}});
          EXPECT_EQ(run(), static_cast<uint32_t>(3 + 3 * blocks));
          record({{plus, 7}}); // and is not run
        }
        record({});
        EXPECT_EQ(run(), 1u);
      }
  }
  device.release(x);
}

} // namespace fovea::test

#endif // FOVEA_TEST_UNIT_RUNTIME_GRAPHTEST_H
