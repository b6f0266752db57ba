// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contexts on CUDA, by a driver that is none (FakeDriver.cpp): the right functions in the right
// order with the right arguments, messages, and nothing left behind. With FOVEA_TEST_DEVICE, what a
// real one does too. Once more with a driver that knows neither graphs nor tensor maps.
#include "test/unit/runtime/cuda/CudaTest.h"
#include "test/unit/runtime/BoxTest.h"
#include "test/unit/runtime/GraphTest.h"

using namespace fovea;
using namespace fovea::test;

namespace {

TEST_F(CudaTest, GivesWhatTheCpuGivesAndLeavesNothing) {
  ASSERT_EQ(inUse(), 0);
  expectGenerates(cuda());
  EXPECT_EQ(inUse(), 0);
  {
    ContextPtr context = on(cuda());
    const char *name = nullptr;
    EXPECT_EQ(message(fovea_context_get_device(context.get(), &name)), "");
    expectIn(name, onEmulator() ? "CUDA device 0 (Fake GPU)" : "CUDA device ");
    CallPtr scale = call(context, "scale"), grow = call(context, "grow"),
            check = call(context, "check");
    EXPECT_EQ(runOn(scale, "x", std::vector<float>(100, 2)), "");
    EXPECT_EQ(result<float>(scale, "y")[98], 0.0f);
    EXPECT_EQ(result<float>(scale, "y")[99], 5.0f);
    EXPECT_EQ(runOn(scale, "x", std::vector<float>{4}), "");
    EXPECT_EQ(result<float>(scale, "y"), std::vector<float>{2});
    for (float total : {3.0f, 6.0f}) {
      EXPECT_EQ(runOn(grow, "x", std::vector<float>{3, 1}), "");
      EXPECT_EQ(result<float>(grow, "sum")[0], total);
    }
    EXPECT_EQ(message(fovea_context_reset(context.get())), "");
    EXPECT_EQ(runOn(grow, "x", std::vector<float>{3, 1}), "");
    EXPECT_EQ(result<float>(grow, "sum")[0], 3.0f);
    EXPECT_EQ(runOn(check, "ids", std::vector<int64_t>{}), "");
    expectIn(runOn(check, "ids", std::vector<int64_t>{11}), "kernel 'check' (here.check) met");
    EXPECT_EQ(runOn(check, "ids", std::vector<int64_t>{1}), "");
    EXPECT_TRUE(inUse() > 0 || !onEmulator());
  }
  EXPECT_EQ(inUse(), 0);
}

/// What the driver is asked for when a call runs.
struct Asked {
  int64_t launches, graphs, made, updated;
  bool operator==(const Asked &other) const {
    return launches == other.launches && graphs == other.graphs && made == other.made &&
           updated == other.updated;
  }
};
std::ostream &operator<<(std::ostream &out, const Asked &asked) {
  return out << asked.launches << " launches, " << asked.graphs << " of graphs, " << asked.made
             << " graphs made, " << asked.updated << " nodes updated";
}

TEST_F(CudaTest, KernelsThatComeAgainAreOneGraph) {
  auto asked = [&]() -> Asked {
    return {calls("cuLaunchKernel"), calls("cuGraphLaunch"), calls("cuGraphInstantiateWithFlags"),
            calls("cuGraphExecKernelNodeSetParams")};
  };
  auto expectAsked = [&](Asked before, Asked more) {
    Asked now = asked();
    // Without graphs each node of one is a launch; both entries here have two.
    if (isOld)
      more = {more.launches + 2 * more.graphs, 0, 0, 0};
    if (onEmulator())
      EXPECT_EQ((Asked{now.launches - before.launches, now.graphs - before.graphs,
                       now.made - before.made, now.updated - before.updated}),
                more);
  };
  {
    ContextPtr context = on(cuda());
    CallPtr scale = call(context, "scale"), grow = call(context, "grow");
    auto runScale = [&](size_t n, float x, Asked more) {
      Asked before = asked();
      EXPECT_EQ(runOn(scale, "x", std::vector<float>(n, x)), "");
      std::vector<float> expected;
      for (size_t i = 0; i < n; ++i)
        expected.push_back(x * std::vector<float>{0.25f, 0.5f, -0.5f, 2}[i % 4] + 1);
      EXPECT_EQ(result<float>(scale, "y"), expected);
      expectAsked(before, more);
    };
    // The first time, the second, nothing but data changed, more blocks at other addresses.
    runScale(100, 2, {2, 0, 0, 0});
    runScale(100, 3, {0, 1, 1, 0});
    runScale(100, 4, {0, 1, 0, 0});
    runScale(400, 5, {0, 1, 0, 2});
    runScale(400, 5, {0, 1, 0, 0});
    // Of nothing nothing is launched: other kernels.
    runScale(0, 1, {0, 0, 0, 0});
    runScale(400, 6, {2, 0, 0, 0});
    runScale(300, 7, {0, 1, 1, 0});
    runScale(400, 8, {0, 1, 0, 2});
    // A cache grows: both kernels get its length.
    for (int64_t step = 1; step <= 6; ++step) {
      Asked before = asked();
      EXPECT_EQ(runOn(grow, "x", std::vector<float>{static_cast<float>(step), 1}), "");
      EXPECT_EQ(result<float>(grow, "sum"),
                (std::vector<float>{static_cast<float>(step * (step + 1) / 2),
                                    static_cast<float>(step)}));
      expectAsked(before, step == 1   ? Asked{2, 0, 0, 0}
                          : step == 2 ? Asked{0, 1, 1, 0}
                                      : Asked{0, 1, 0, 2});
    }
    // Runs that are measured are one graph from the first.
    CallPtr measured = call(context, "scale");
    std::vector<float> x(10, 1);
    EXPECT_EQ(set(measured, "x", x, {10}), "");
    Asked before = asked();
    double seconds = 0;
    EXPECT_EQ(message(fovea_call_measure(measured.get(), 5, &seconds)), "");
    expectAsked(before, {0, 5, 1, 0});
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaTest, ACallWaitsOnceAndCopiesOnceEachWay) {
  if (!onEmulator())
    GTEST_SKIP() << "of the driver that the emulator plays";
  ContextPtr context = on(cuda());
  CallPtr grow = call(context, "grow"), check = call(context, "check");
  const char *functions[] = {
      "wait",     "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemAlloc_v2",
      "pageable", "cuMemcpyDtoDAsync_v2", "cuMemsetD8Async"};
  auto count = [&] {
    std::vector<int64_t> result;
    for (const char *function : functions)
      result.push_back(calls(function));
    return result;
  };
  for (int64_t step = 1; step <= 5; ++step) {
    std::vector<int64_t> before = count();
    EXPECT_EQ(runOn(grow, "x", std::vector<float>{1, 2}), "");
    EXPECT_EQ(result<float>(grow, "sum")[1], static_cast<float>(2 * step));
    std::vector<int64_t> after = count(), expected = {1, 1, 1, 0, 0, 0, 0};
    for (size_t i = 0; step > 1 && i < expected.size(); ++i)
      EXPECT_EQ(after[i] - before[i], expected[i]) << functions[i];
  }
  // The fault word comes along, and is of use for the next.
  for (int64_t id : {1, 10, 2, 10, 3}) {
    std::vector<int64_t> before = count();
    EXPECT_EQ(runOn(check, "ids", std::vector<int64_t>{id}).empty(), id < 10);
    EXPECT_EQ(calls("wait") - before[0], 1);
  }
  // What grows a little each time is rarely new.
  CallPtr scale = call(context, "scale");
  std::vector<int64_t> before = count();
  for (size_t n = 100; n < 200; ++n)
    EXPECT_EQ(runOn(scale, "x", std::vector<float>(n, 2)), "");
  EXPECT_LT(calls("cuMemAlloc_v2") - before[3], 20);
}

TEST_F(CudaTest, ATokenIsOneGraphOneWaitAndAFewBytes) {
  if (!onEmulator())
    GTEST_SKIP() << "of the driver that the emulator plays";
  ContextPtr context = on(cuda());
  const char *functions[] = {"wait",
                             "cuMemcpyHtoDAsync_v2",
                             "cuMemcpyDtoDAsync_v2",
                             "cuMemcpyDtoHAsync_v2",
                             "bytes out",
                             isOld ? "cuLaunchKernel" : "cuGraphLaunch",
                             "cuMemAlloc_v2",
                             "cuMemsetD8Async",
                             "pageable"};
  auto count = [&](int64_t tokens) {
    std::vector<int64_t> result, written;
    for (const char *function : functions)
      result.push_back(-calls(function));
    EXPECT_EQ(generate(context, {7}, tokens, written), "");
    EXPECT_EQ(static_cast<int64_t>(written.size()), tokens);
    for (size_t i = 0; i < result.size(); ++i)
      result[i] += calls(functions[i]);
    return result;
  };
  count(2); // what the context needs once
  std::vector<int64_t> some = count(4), more = count(6);
  // Fault word, and the token at the next multiple of 256; without the logits, which would be as
  // many bytes again.
  const int64_t expected[] = {1, 1, 0, 1, 264, 1, 0, 0, 0};
  for (size_t i = 0; i < some.size(); ++i)
    EXPECT_EQ(more[i] - some[i], 2 * expected[i]) << functions[i];
}

TEST_F(CudaTest, LargeResultsComeOnTheirOwn) {
  {
    ContextPtr context = on(cuda());
    CallPtr scale = call(context, "scale");
    for (size_t n : {10, 700000, 520000, 3, 2000000}) {
      EXPECT_EQ(runOn(scale, "x", std::vector<float>(n, 4)), "");
      std::vector<float> y = result<float>(scale, "y");
      ASSERT_EQ(y.size(), n);
      EXPECT_EQ(y[2], -1);
      EXPECT_EQ(y.back(), std::vector<float>({2, 3, -1, 9})[(n - 1) % 4]);
    }
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaTest, FaultsBeforeFaultsAreForgotten) {
  {
    ContextPtr context = on(cuda(), /*profile=*/1);
    CallPtr check = call(context, "check");
    expectIn(runOn(check, "ids", std::vector<int64_t>(13, 10)), "kernel 'check'");
    EXPECT_EQ(runOn(check, "ids", std::vector<int64_t>{4}), "");
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaTest, GraphsRunWhatWasRecordedLast) {
  runsWhatWasRecordedLast(*makeDevice(cuda(), 1));
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaTest, FaultsInGraphsAreTold) {
  {
    ContextPtr context = on(cuda());
    CallPtr check = call(context, "check");
    for (int round = 0; round < 3; ++round) {
      for (int64_t id : {1, 2, 3}) {
        EXPECT_EQ(runOn(check, "ids", std::vector<int64_t>{id, 9}), "");
        EXPECT_EQ(result<int64_t>(check, "out"), (std::vector<int64_t>{id, 9}));
      }
      // Of the kernel; of the host, before anything runs.
      expectIn(runOn(check, "ids", std::vector<int64_t>{1, 10}), "kernel 'check' (here.check) met");
      expectIn(runOn(check, "ids", std::vector<int64_t>(13)), "kernel 'check' (here.check) met");
    }
    // Of the device: a read beside an argument that is as small as can be.
    CallPtr fresh = call(context, "check");
    for (int round = 0; onEmulator() && round < 3; ++round)
      expectIn(runOn(fresh, "ids", std::vector<int64_t>(5)), "a kernel failed: error 1");
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaTest, SmallCopiesWaitForNobody) {
  {
    std::unique_ptr<Device> device = makeDevice(cuda(), 1);
    const size_t count = 300000; // floats, more than a megabyte
    uint64_t first = device->allocate(4 * count, "memory"),
             second = device->allocate(4 * count, "memory");
    std::vector<float> in(count), out(count), part(3);
    for (float round : {1.0f, 2.0f}) {
      int64_t waits = calls("wait"), pageable = calls("pageable");
      std::fill(in.begin(), in.end(), round);
      device->copyIn(first, in.data(), 4 * count);
      std::fill(in.begin(), in.end(), -1.0f);
      device->fill(first, 0, 4);
      device->copy(second, first, 4 * count);
      device->copyOut(part.data(), second, 12);
      device->copyOut(out.data(), second, 4 * count);
      EXPECT_EQ(calls("wait"), waits);
      EXPECT_EQ(calls("pageable"), pageable);
      if (onEmulator()) // whose driver is late
        EXPECT_NE(out[1], round);
      device->synchronize();
      EXPECT_EQ(calls("wait"), waits + (onEmulator() ? 1 : 0));
      EXPECT_EQ(out[0], 0);
      EXPECT_EQ(part, (std::vector<float>{0, round, round}));
      EXPECT_EQ(std::count(out.begin(), out.end(), round), static_cast<int64_t>(count) - 1);
    }
    // More than pinned memory holds, small after large.
    std::vector<std::vector<float>> outs(5, std::vector<float>(count));
    for (size_t round = 0; round < outs.size(); ++round) {
      std::fill(in.begin(), in.end(), static_cast<float>(round));
      device->copyIn(first, in.data(), 4 * count);
      device->copyOut(outs[round].data(), first, 4 * count);
    }
    device->copyOut(part.data(), first, 12);
    device->synchronize();
    EXPECT_EQ(part, std::vector<float>(3, 4));
    for (size_t round = 0; round < outs.size(); ++round)
      EXPECT_EQ(outs[round], std::vector<float>(count, static_cast<float>(round)));
    device->release(first);
    device->release(second);
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaTest, TimesAreTheDriversEvents) {
  {
    ContextPtr context = on(cuda(), /*profile=*/1, /*trace=*/1);
    CallPtr scale = call(context, "scale");
    EXPECT_EQ(runOn(scale, "x", std::vector<float>(100, 2)), "");
    double seconds = 0;
    EXPECT_EQ(message(fovea_call_get_step_time(scale.get(), 1, &seconds)), "");
    EXPECT_GT(seconds, 0);
    const fovea_trace_event *events = nullptr;
    size_t count = 0;
    EXPECT_EQ(message(fovea_context_get_trace(context.get(), &events, &count)), "");
    ASSERT_EQ(count, 3u);
    EXPECT_EQ(events[0].begin, events[2].begin);
    EXPECT_LE(events[0].end, events[1].begin);
    EXPECT_LE(events[1].end, events[2].end);
    EXPECT_EQ(message(fovea_call_measure(scale.get(), 5, &seconds)), "");
    EXPECT_GT(seconds, 0);
    EXPECT_EQ(message(fovea_context_measure_copy(context.get(), 1 << 20, 3, &seconds)), "");
    EXPECT_GT(seconds, 0);
    expectIn(message(fovea_context_measure_copy(context.get(), uint64_t(1) << 60, 3, &seconds)),
             "CUDA device ");
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaTest, BoxesAreTakenByTensorMaps) {
  {
    std::unique_ptr<Device> device = makeDevice(onEmulator() ? "cuda:2" : testDevice(), 1);
    if (device->rank("sm_90a") < 0)
      GTEST_SKIP() << device->name() << " has no TMA";
    if (isOld) {
      expectIn(Boxes(*device).failure(), "tensor map 0: NVIDIA's driver is too old: it lacks "
                                         "cuTensorMapEncodeTiled");
    } else {
      takesBoxesByMaps(*device);
      takesBoxesInGraphs(*device);
      refusesWrongMaps(*device);
    }
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaTest, WhatTheDriverRefusesIsTold) {
  if (!onEmulator())
    GTEST_SKIP() << "of the driver that the emulator plays";
  ContextPtr made;
  expectIn(make("cuda:1", made), "CUDA device 1 (Fake GPU): 16 bytes for weight 'scale': "
                                 "out of memory");
  expectIn(make("cuda:3", made), "expects device 3 of this machine, which has 3");
  // Read by the driver when a kernel fails: 13 of these read beside their argument.
  ContextPtr context = on(cuda());
  CallPtr check = call(context, "check");
  expectIn(runOn(check, "ids", std::vector<int64_t>(5)),
           "CUDA device 0 (Fake GPU): a kernel failed: error 1");
  check.reset();
  context.reset();
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaTest, CodeThatItCannotRunIsRefused) {
  if (!onEmulator())
    GTEST_SKIP() << "of the driver that the emulator plays";
  ContextPtr made;
  for (const char *chip : {"sm_90", "sm_80a", "gfx90a"}) {
    write(path, chip);
    module = open(path);
    expectIn(make("cuda", made),
             std::string("holds no code for CUDA device 0 (Fake GPU), only for the CPU and ") +
                 chip);
  }
  write(path, "sm_80", [](std::string &ptx) { ptx += "nonsense\n"; });
  module = open(path);
  expectIn(make("cuda", made), "its code for sm_80 cannot be loaded on CUDA device 0 (Fake GPU): "
                               "a PTX JIT compilation failed\nimage:");
  write(path, "sm_80", [](std::string &ptx) { ptx.replace(ptx.find("plus_one("), 8, "plus_two"); });
  module = open(path);
  expectIn(make("cuda", made), "kernel 'plus_one'");
  EXPECT_EQ(inUse(), 0);
}

} // namespace
