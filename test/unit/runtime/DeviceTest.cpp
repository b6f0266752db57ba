// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contexts on a device: an artifact with kernels by hand gives on the emulator what it gives on the
// CPU, and what the emulator finds becomes a message. CUDA is asked for where there is none.
#include "test/unit/runtime/DeviceTest.h"
#include "test/unit/runtime/BoxTest.h"
#include "test/unit/runtime/GraphTest.h"

#include <dlfcn.h>

using namespace fovea;
using namespace fovea::test;

namespace {

const std::vector<float> kTwo{3, 1};

TEST_F(DeviceTest, GivesWhatTheCpuGives) {
  std::vector<const char *> devices = {"cpu", testDevice()};
  if (onEmulator())
    devices.insert(devices.end(), {"emulator:early", "emulator:late"});
  for (const char *device : devices) {
    ContextPtr context = on(device);
    CallPtr call = this->call(context, "scale");
    // Growing, shrinking, the same again.
    for (int64_t n : {200, 3, 3, 64, 1}) {
      std::vector<float> x(static_cast<size_t>(n)), expected;
      const float weight[] = {0.25f, 0.5f, -0.5f, 2.0f};
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(i) - 7;
        expected.push_back(x[i] * weight[i % 4] + 1);
      }
      EXPECT_EQ(set(call, "x", x, {n}), "");
      EXPECT_EQ(run(call), "") << device;
      EXPECT_EQ(result<float>(call, "y"), expected) << device << " " << n;
    }
  }
}

TEST_F(DeviceTest, WeightsAreLaidOutAsTheDeviceReadsThem) {
  write(path, "sm_80", {}, /*packed=*/true);
  module = open(path);
  ContextPtr context = on(testDevice());
  CallPtr call = this->call(context, "scale");
  EXPECT_EQ(runOn(call, "x", std::vector<float>{1, 1, 1, 1, 2}), "");
  EXPECT_EQ(result<float>(call, "y"), (std::vector<float>{1.25f, 1.5f, 0.5f, 3.0f, 1.5f}));
}

TEST_F(DeviceTest, CallsOfNothingLaunchNothing) {
  ContextPtr context = on(testDevice());
  CallPtr call = this->call(context, "scale");
  EXPECT_EQ(runOn(call, "x", std::vector<float>()), "");
  EXPECT_TRUE(result<float>(call, "y").empty());
}

TEST_F(DeviceTest, CachesStayThereAndAreEmptied) {
  for (const char *device : {"cpu", testDevice()}) {
    ContextPtr context = on(device);
    CallPtr call = this->call(context, "grow");
    std::vector<float> x(70, 1);
    for (int round = 0; round < 2; ++round) {
      for (int64_t step = 1; step <= 4; ++step) {
        x[69] = static_cast<float>(step);
        EXPECT_EQ(set(call, "x", x, {70}), "");
        EXPECT_EQ(run(call), "");
        std::vector<float> sums = result<float>(call, "sum");
        EXPECT_EQ(sums[0], static_cast<float>(step)) << device;
        EXPECT_EQ(sums[69], static_cast<float>(step * (step + 1) / 2)) << device;
      }
      fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
      EXPECT_EQ(message(fovea_context_get_info(context.get(), &info)), "");
      EXPECT_EQ(info.length, 4);
      EXPECT_EQ(message(fovea_context_reset(context.get())), "");
    }
    // Emptied, another number of rows fits.
    EXPECT_EQ(runOn(call, "x", std::vector<float>{5, 6}), "");
    EXPECT_EQ(result<float>(call, "sum"), (std::vector<float>{5, 6}));
  }
}

TEST_F(DeviceTest, FaultsOfKernelAndHostNameTheKernel) {
  ContextPtr context = on(testDevice());
  CallPtr call = this->call(context, "check");
  EXPECT_EQ(runOn(call, "ids", std::vector<int64_t>{1, 2, 9}), "");
  EXPECT_EQ(result<int64_t>(call, "out"), (std::vector<int64_t>{1, 2, 9}));
  expectIn(runOn(call, "ids", std::vector<int64_t>{1, 10, 9}),
           "kernel 'check' (here.check) met an index or a size out of bounds");
  expectIn(runOn(call, "ids", std::vector<int64_t>(13)),
           "kernel 'check' (here.check) met an index or a size out of bounds");
  EXPECT_EQ(runOn(call, "ids", std::vector<int64_t>{4}), "");
}

TEST_F(DeviceTest, DescriptionsOfLaunchesAreChecked) {
  ContextPtr context = on(testDevice());
  CallPtr call = this->call(context, "check");
  expectIn(runOn(call, "ids", std::vector<int64_t>(11)),
           "step 0 of entry 'check' describes a launch of 1 blocks with 5 parameters and 9 tensor "
           "maps");
}

TEST_F(DeviceTest, WhatTheEmulatorFindsIsOurFault) {
  if (!onEmulator())
    GTEST_SKIP() << "only the emulator finds it";
  ContextPtr context = on(testDevice());
  CallPtr call = this->call(context, "check");
  auto fails = [&](int64_t n) {
    std::vector<int64_t> ids(static_cast<size_t>(n));
    EXPECT_EQ(set(call, "ids", ids, {n}), "");
    fovea_status *status = fovea_call_run(call.get());
    EXPECT_EQ(fovea_status_code(status), FOVEA_INTERNAL);
    return message(status);
  };
  std::string outside = fails(5);
  expectIn(outside, path + ", PTX for sm_80");
  expectIn(outside, "'argument 'ids''");
  expectIn(fails(7), "which nobody wrote");
  // The context is of use still.
  EXPECT_EQ(runOn(call, "ids", std::vector<int64_t>{4}), "");
}

TEST_F(DeviceTest, StepsAreTimedAndTraced) {
  ContextPtr context = on(testDevice(), /*profile=*/1, /*trace=*/1);
  CallPtr call = this->call(context, "scale");
  EXPECT_EQ(runOn(call, "x", std::vector<float>(100, 1)), "");
  double seconds = 0, flops = 0, bytes = 0;
  EXPECT_EQ(message(fovea_call_get_step_time(call.get(), 1, &seconds)), "");
  EXPECT_GT(seconds, 0);
  EXPECT_EQ(message(fovea_call_get_step_cost(call.get(), 1, &flops, &bytes)), "");
  EXPECT_EQ(flops, -1);
  EXPECT_EQ(bytes, 800);
  const fovea_trace_event *events = nullptr;
  size_t count = 0;
  EXPECT_EQ(message(fovea_context_get_trace(context.get(), &events, &count)), "");
  ASSERT_EQ(count, 3u);
  EXPECT_EQ(events[1].step, 1);
  EXPECT_LE(events[0].end, events[1].begin);
  EXPECT_EQ(events[2].step, -1);
  EXPECT_EQ(message(fovea_context_get_step_count(context.get(), 0, &count)), "");
  EXPECT_EQ(count, 2u);
  fovea_step_info info = FOVEA_STEP_INFO_INIT;
  EXPECT_EQ(message(fovea_context_get_step(context.get(), 0, 1, &info)), "");
  EXPECT_STREQ(info.kernel, "plus_one");
  EXPECT_EQ(message(fovea_module_get_step(module.get(), 0, 1, &info)), "");
  EXPECT_STREQ(info.kernel, "cpu_plus_one");
  expectIn(message(fovea_context_get_step(context.get(), 0, 2, &info)), "no step number 2 of 2");
  expectIn(message(fovea_context_get_step(context.get(), 9, 0, &info)), "no entry number 9 of 5");
  const char *name = nullptr;
  EXPECT_EQ(message(fovea_context_get_device(context.get(), &name)), "");
  expectIn(name, onEmulator() ? "the emulator" : "CUDA device ");
}

TEST_F(DeviceTest, RunsAreMeasuredAsOne) {
  for (const char *device : {"cpu", testDevice()}) {
    ContextPtr context = on(device, /*profile=*/1);
    CallPtr call = this->call(context, "grow");
    double once = 0, often = 0, profiled = 0;
    EXPECT_EQ(set(call, "x", kTwo, {2}), "");
    EXPECT_EQ(message(fovea_call_measure(call.get(), 1, &once)), "");
    EXPECT_GT(once, 0);
    // Nine times at one place: the cache grows once.
    EXPECT_EQ(message(fovea_call_measure(call.get(), 9, &often)), "");
    EXPECT_GT(often, 0);
    EXPECT_EQ(result<float>(call, "sum"), (std::vector<float>{6, 2})) << device;
    fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
    EXPECT_EQ(message(fovea_context_get_info(context.get(), &info)), "");
    EXPECT_EQ(info.length, 2);
    EXPECT_EQ(message(fovea_call_get_step_time(call.get(), 0, &profiled)), "");
    EXPECT_EQ(profiled, 0);
    expectIn(message(fovea_call_measure(call.get(), 0, &once)), "at least one run, got 0");
    if (device == std::string("cpu"))
      continue; // whose code here checks nothing
    CallPtr faulty = this->call(context, "check");
    std::vector<int64_t> ids{1, 10};
    EXPECT_EQ(set(faulty, "ids", ids, {2}), "");
    expectIn(message(fovea_call_measure(faulty.get(), 3, &once)), "kernel '");
  }
}

TEST_F(DeviceTest, MemoryIsMeasuredByCopies) {
  ContextPtr context = on(testDevice());
  double seconds = 0;
  EXPECT_EQ(message(fovea_context_measure_copy(context.get(), 100000, 3, &seconds)), "");
  EXPECT_GT(seconds, 0);
  expectIn(message(fovea_context_measure_copy(context.get(), 0, 3, &seconds)), "got 0 and 3");
  expectIn(message(fovea_context_measure_copy(context.get(), 8, 0, &seconds)), "got 8 and 0");
  expectIn(message(fovea_context_measure_copy(on("cpu").get(), 8, 1, &seconds)),
           "got one on the CPU");
}

TEST_F(DeviceTest, BoxesAreTakenByTensorMaps) {
  for (const char *name : {"emulator:early", "emulator:late"}) {
    std::unique_ptr<Device> device = makeDevice(onEmulator() ? name : testDevice(), 1);
    if (device->rank("sm_90a") < 0)
      GTEST_SKIP() << device->name() << " has no TMA";
    takesBoxesByMaps(*device);
    takesBoxesInGraphs(*device);
    refusesWrongMaps(*device);
  }
}

TEST_F(DeviceTest, GraphsRunWhatWasRecordedLast) {
  runsWhatWasRecordedLast(*makeDevice(testDevice(), 1));
}

TEST_F(DeviceTest, GeneratesWhatTheCpuGives) {
  expectGenerates("cpu");
  expectGenerates(testDevice());
}

TEST_F(DeviceTest, WrongDevicesAreNamed) {
  ContextPtr made;
  for (const char *wrong : {"gpu", "emulator:soon", "emulator:", "cuda:x", "cuda:", "cpu:1"})
    expectIn(make(wrong, made), std::string("device '") + wrong + "': expects cpu, cuda, cuda:N");
  if (!::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
    expectIn(make("cuda", made), "device 'cuda': expects NVIDIA's driver on this machine: ");
  fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
  fovea_threading threading = FOVEA_THREADING_INIT;
  options.threading = &threading;
  options.device = "emulator";
  fovea_context *context = nullptr;
  expectIn(message(fovea_context_create(module.get(), &options, &context)),
           "expects no device, got 'emulator'");
}

TEST_F(DeviceTest, ArtifactsWithoutItsCodeSayHowToMakeIt) {
  ContextPtr made;
  write(path, "");
  module = open(path);
  expectIn(make("emulator", made), path + ": holds no code for the emulator, only for the CPU; "
                                          "make it by: fovea compile MODEL --gpu=sm_80");
  write(path, "gfx942");
  module = open(path);
  expectIn(make("emulator", made), "only for the CPU and gfx942");
  EXPECT_EQ(make("cpu", made), "");
}

TEST_F(DeviceTest, CodeThatIsWrongIsFoundWhenTheContextIsMade) {
  ContextPtr made;
  write(path, "sm_80", [](std::string &ptx) { ptx += "nonsense\n"; });
  module = open(path);
  expectIn(make("emulator", made), path + ", PTX for sm_80");
}

} // namespace
