// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors in a device's memory, on the emulator or on FOVEA_TEST_DEVICE: the same numbers as from
// the CPU's, and a message for what is not there. What a driver is asked for meanwhile:
// cuda/StreamTest.cpp.
#include "test/unit/runtime/DeviceMemory.h"
#include "test/unit/runtime/DeviceTest.h"

#include <cstddef>

using namespace fovea;
using namespace fovea::test;

namespace {

using Floats = std::vector<float>;
using Ids = std::vector<int64_t>;

TEST_F(DeviceTest, ArgumentsAreReadInItsMemory) {
  ContextPtr context = on(testDevice());
  CallPtr scale = call(context, "scale");
  // At multiples of 64 as it is, else as a copy.
  for (size_t offset : {0, 256, 64, 4}) {
    There<float> x(context, {1, 2, 3, 4, 5}, offset);
    EXPECT_EQ(x.setOf(scale, "x"), "");
    EXPECT_EQ(run(scale), "");
    EXPECT_EQ(result<float>(scale, "y"), (Floats{1.25f, 2, -0.5f, 9, 2.25f})) << offset;
    // The address is the argument, whatever is there when it runs.
    x.write({8, 8, 8, 8, 8});
    EXPECT_EQ(run(scale), "");
    EXPECT_EQ(result<float>(scale, "y"), (Floats{3, 5, -3, 17, 3})) << offset;
    EXPECT_EQ(x.read(), Floats(5, 8));
  }
  // And back to the CPU's.
  EXPECT_EQ(runOn(scale, "x", Floats{4}), "");
  EXPECT_EQ(result<float>(scale, "y"), Floats{2});
}

TEST_F(DeviceTest, ResultsStayThereAndAreArguments) {
  ContextPtr context = on(testDevice());
  CallPtr first = call(context, "scale"), second = call(context, "scale");
  for (size_t n : {5, 200, 3}) {
    auto mine = std::make_shared<Floats>(n, 4.0f);
    EXPECT_EQ(set(first, "x", *mine, {static_cast<int64_t>(n)}), "");
    EXPECT_EQ(runWith(first, true), "");
    const fovea_tensor y = stayed(context, first, "y");
    EXPECT_EQ(reinterpret_cast<uint64_t>(y.data) % 64, 0u);
    EXPECT_EQ(message(fovea_call_set_argument(second.get(), "x", &y)), "");
    EXPECT_EQ(run(second), "");
    Floats twice = result<float>(second, "y");
    EXPECT_EQ(twice[0], 1.5f);
    EXPECT_EQ(twice[1], 2.5f);
    EXPECT_EQ(twice[2], 1.5f);
    EXPECT_EQ(readStayed<float>(context, first, "y")[2], -1);
    // Of the same call, whose memory takes the next.
    EXPECT_EQ(message(fovea_call_set_argument(first.get(), "x", &y)), "");
    EXPECT_EQ(runWith(first, true), "");
    EXPECT_EQ(readStayed<float>(context, first, "y"), twice);
  }
  // Runs that are measured fetch them.
  double seconds = 0;
  EXPECT_EQ(runWith(first, true), "");
  EXPECT_EQ(message(fovea_call_measure(first.get(), 2, &seconds)), "");
  EXPECT_EQ(result<float>(first, "y").size(), 3u);
  // On the CPU they are where they are.
  ContextPtr cpu = on("cpu");
  CallPtr host = call(cpu, "scale");
  const Floats x{4};
  EXPECT_EQ(set(host, "x", x, {1}), "");
  EXPECT_EQ(runWith(host, true), "");
  EXPECT_EQ(stayed(cpu, host, "y").device.type, FOVEA_CPU);
  EXPECT_EQ(result<float>(host, "y"), Floats{2});
}

TEST_F(DeviceTest, EmptyTensorsAreAnywhere) {
  ContextPtr context = on(testDevice());
  CallPtr scale = call(context, "scale");
  EXPECT_EQ(There<float>::setThere<float>(scale, "x", nullptr, deviceOf(context), 0), "");
  EXPECT_EQ(runWith(scale, true), "");
  EXPECT_TRUE(readStayed<float>(context, scale, "y").empty());
}

TEST_F(DeviceTest, CachesGrowByTensorsThere) {
  ContextPtr context = on(testDevice());
  CallPtr grow = call(context, "grow");
  There<float> x(context, {3, 1});
  EXPECT_EQ(x.setOf(grow, "x"), "");
  for (float step : {1.0f, 2.0f, 3.0f}) {
    EXPECT_EQ(runWith(grow, true), "");
    EXPECT_EQ(readStayed<float>(context, grow, "sum"), (Floats{3 * step, step}));
  }
}

TEST_F(DeviceTest, TensorsOfOtherDevicesAreRefused) {
  Floats x{1};
  ContextPtr context = on(testDevice()), another = on(testDevice()), cpu = on("cpu");
  CallPtr here = call(context, "scale"), host = call(cpu, "scale");
  auto text = [&](const CallPtr &call, fovea_device device) {
    return There<float>::setThere<float>(call, "x", x.data(), device, 1);
  };
  const std::string start = "entry 'scale': argument 'x' expects a tensor in CPU memory";
  EXPECT_EQ(text(host, {FOVEA_CUDA, 1}), start + ", got one of CUDA device 1");
  EXPECT_EQ(text(host, {FOVEA_EMULATOR, 7}), start + ", got one of emulator 7");
  EXPECT_EQ(text(host, {8, 2}), start + ", got one of device type 8, id 2");
  const fovea_device own = deviceOf(context);
  const std::string or_ = start + " or that of " +
                          (onEmulator() ? "emulator " + std::to_string(own.id)
                                        : "CUDA device " + std::to_string(own.id));
  EXPECT_EQ(text(here, {FOVEA_CUDA, 9}), or_ + ", got one of CUDA device 9");
  EXPECT_EQ(text(here, {13, 0}), or_ + ", got one of device type 13, id 0");
  if (onEmulator()) {
    // Each has an emulator of its own.
    const fovea_device other = deviceOf(another);
    EXPECT_EQ(text(here, other), or_ + ", got one of emulator " + std::to_string(other.id));
  }
  EXPECT_EQ(text(host, {FOVEA_CPU, 3}), "");
  EXPECT_EQ(run(host), "");
}

TEST_F(DeviceTest, AddressesThatAreNotThereAreRefused) {
  ContextPtr context = on(testDevice());
  CallPtr scale = call(context, "scale");
  const fovea_device device = deviceOf(context);
  There<float> x(context, {1, 2, 3, 4});
  auto fails = [&](void *address, int64_t size) {
    EXPECT_EQ(There<float>::setThere<float>(scale, "x", address, device, size), "");
    fovea_status *status = fovea_call_run(scale.get());
    EXPECT_EQ(fovea_status_code(status), FOVEA_INVALID);
    return message(status);
  };
  expectIn(fails(reinterpret_cast<void *>(0x1000), 3),
           "entry 'scale': argument 'x' expects 12 bytes in the memory of ");
  expectIn(fails(reinterpret_cast<void *>(0x1000), 3), ", got address 0x1000, which ");
  if (onEmulator()) {
    expectIn(fails(x.address(), 5), "which is byte 0 of 'the caller' (16 bytes)");
    expectIn(fails(static_cast<char *>(x.address()) + 16, 1),
             "which is 0 bytes past the end of 'the caller' (16 bytes)");
    void *empty = nullptr;
    EXPECT_EQ(message(fovea_context_allocate(context.get(), 8, &empty)), "");
    expectIn(fails(empty, 2), "which holds bytes that nobody wrote: byte 0 of 'the caller'");
    EXPECT_EQ(message(fovea_context_release(context.get(), empty)), "");
    expectIn(fails(empty, 2), "which is freed: byte 0 of 'the caller' (8 bytes)");
  }
  EXPECT_EQ(x.setOf(scale, "x"), "");
  EXPECT_EQ(run(scale), "");
}

TEST_F(DeviceTest, MemoryOfCallersIsChecked) {
  ContextPtr context = on(testDevice()), cpu = on("cpu");
  void *memory = nullptr;
  EXPECT_EQ(message(fovea_context_allocate(cpu.get(), 8, &memory)),
            "memory of a device expects a context on one, got one on the CPU");
  EXPECT_EQ(message(fovea_context_allocate(context.get(), 0, &memory)), "");
  EXPECT_NE(memory, nullptr);
  EXPECT_EQ(message(fovea_context_release(context.get(), memory)), "");
  expectIn(message(fovea_context_release(context.get(), memory)), "is not released yet, got 0x");
  EXPECT_EQ(message(fovea_context_release(context.get(), nullptr)), "");
  EXPECT_EQ(message(fovea_context_allocate(context.get(), 8, &memory)), "");
  float number = 1;
  expectIn(message(fovea_context_copy_in(context.get(), reinterpret_cast<void *>(8), &number, 4)),
           "a copy to the device expects 4 bytes in the memory of ");
  expectIn(message(fovea_context_copy_out(context.get(), &number, reinterpret_cast<void *>(8), 4)),
           "a copy from the device expects 4 bytes in the memory of ");
  expectIn(message(fovea_context_copy_in(context.get(), memory, nullptr, 4)), "NULL");
  expectIn(message(fovea_context_copy_out(context.get(), nullptr, memory, 4)), "NULL");
  expectIn(message(fovea_context_copy_out(nullptr, &number, memory, 4)), "context is NULL");
  expectIn(message(fovea_context_allocate(context.get(), 8, nullptr)), "memory is NULL");
  EXPECT_EQ(message(fovea_context_copy_in(context.get(), nullptr, nullptr, 0)), "");
  EXPECT_NE(message(fovea_context_allocate(context.get(), uint64_t(1) << 60, &memory)), "");
}

TEST_F(DeviceTest, StreamsAreOfCudaOnly) {
  int nothing = 0;
  for (const char *device : {"cpu", "emulator"}) {
    ContextPtr context = on(device);
    CallPtr scale = call(context, "scale");
    const Floats x{4};
    EXPECT_EQ(set(scale, "x", x, {1}), "");
    EXPECT_EQ(runWith(scale, false, &nothing),
              std::string("a run on a stream expects a context on CUDA, got one on the ") +
                  (device == std::string("cpu") ? "CPU" : "emulator"));
    EXPECT_EQ(run(scale), "");
    EXPECT_EQ(message(fovea_call_wait(scale.get())), "");
    EXPECT_EQ(result<float>(scale, "y"), Floats{2});
  }
}

TEST_F(DeviceTest, FaultsOfTensorsThereNameTheArgument) {
  ContextPtr context = on(testDevice());
  CallPtr check = call(context, "check");
  There<int64_t> ids(context, {1, 10, 9});
  EXPECT_EQ(ids.setOf(check, "ids"), "");
  EXPECT_EQ(runWith(check, true), "entry 'check': kernel 'check' (here.check) met an index or a "
                                  "size out of bounds; look at the values of 'ids'");
  const fovea_tensor *none = nullptr;
  expectIn(message(fovea_call_get_result(check.get(), "out", &none)), "has not been run");
  ids.write({1, 2, 9});
  EXPECT_EQ(runWith(check, true), "");
  EXPECT_EQ(readStayed<int64_t>(context, check, "out"), (Ids{1, 2, 9}));
}

TEST_F(DeviceTest, ProgramsOfTheFirstVersionGetNoDevice) {
  ContextPtr context = on(testDevice());
  fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
  info.struct_size = offsetof(fovea_context_info, device);
  info.device = {77, 78};
  EXPECT_EQ(message(fovea_context_get_info(context.get(), &info)), "");
  EXPECT_EQ(info.capacity, 16);
  EXPECT_EQ(info.device.type, 77);
  EXPECT_EQ(info.device.id, 78);
}

} // namespace
