// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors in CUDA's memory and the caller's stream: what the driver is asked for, in which order
// and on which stream, by the driver that is none; that work under way is waited for by the device
// and not by the host, by a real one too.
#include "test/unit/runtime/DeviceMemory.h"
#include "test/unit/runtime/cuda/CudaTest.h"

#include "runtime/Device.h"

#include <cstdlib>
#include <cstring>

using namespace fovea;
using namespace fovea::test;

namespace {

using Floats = std::vector<float>;
using Ids = std::vector<int64_t>;

/// The driver's own functions, by the device that the test is about, whose primary context is
/// current while this lives.
class DriverContext {
public:
  explicit DriverContext(int number = 0) : library(::dlopen("libcuda.so.1", RTLD_NOW)) {
    auto retain = function<int(void **, int)>("cuDevicePrimaryCtxRetain");
    int ok = function<int(unsigned)>("cuInit")(0);
    ok |= function<int(int *, int)>("cuDeviceGet")(&device, number);
    ok |= retain(&context, device);
    ok |= function<int(void *)>("cuCtxPushCurrent_v2")(context);
    EXPECT_EQ(ok, 0);
  }
  ~DriverContext() {
    function<int(void **)>("cuCtxPopCurrent_v2")(&context);
    function<int(int)>("cuDevicePrimaryCtxRelease_v2")(device);
  }
  DriverContext(const DriverContext &) = delete;

  template <typename Type> Type *function(const char *name) const {
    auto found = reinterpret_cast<Type *>(::dlsym(library, name));
    EXPECT_TRUE(found) << name;
    return found;
  }

private:
  void *library, *context = nullptr;
  int device = 0;
};

/// A stream of the caller's.
class Stream {
public:
  explicit Stream(const DriverContext &driver) : driver(driver) {
    EXPECT_EQ((driver.function<int(void **, unsigned)>("cuStreamCreate")(&stream, 1)), 0);
  }
  ~Stream() { EXPECT_EQ(driver.function<int(void *)>("cuStreamDestroy_v2")(stream), 0); }
  Stream(const Stream &) = delete;

  void *get() const { return stream; }
  void wait() { EXPECT_EQ(driver.function<int(void *)>("cuStreamSynchronize")(stream), 0); }
  /// Asks for numbers to be written there.
  template <typename T> void write(const There<T> &to, const std::vector<T> &data) {
    EXPECT_EQ((driver.function<int(unsigned long long, const void *, size_t, void *)>(
                  "cuMemcpyHtoDAsync_v2")(reinterpret_cast<unsigned long long>(to.address()),
                                          data.data(), to.bytes(), stream)),
              0);
  }
  /// Asks for them to be copied from a result.
  template <typename T> void copy(const There<T> &to, const fovea_tensor &from) {
    EXPECT_EQ((driver.function<int(unsigned long long, unsigned long long, size_t, void *)>(
                  "cuMemcpyDtoDAsync_v2")(reinterpret_cast<unsigned long long>(to.address()),
                                          reinterpret_cast<unsigned long long>(from.data),
                                          to.bytes(), stream)),
              0);
  }

private:
  const DriverContext &driver;
  void *stream = nullptr;
};

class CudaStreamTest : public CudaTest {
protected:
  /// The number in "cuda:2".
  static int number() {
    const char *colon = std::strchr(cuda(), ':');
    return colon ? std::atoi(colon + 1) : 0;
  }
  void name(const Stream &stream, const char *called, bool isCaptured = false) {
    if (driver)
      reinterpret_cast<void (*)(void *, const char *, bool)>(
          ::dlsym(driver, "fake_driver_name_stream"))(stream.get(), called, isCaptured);
  }
  /// What streams were asked for since the last time.
  std::string log() {
    return reinterpret_cast<const char *(*)()>(::dlsym(driver, "fake_driver_log"))();
  }
  /// Of two kernels, from the second time on.
  static std::string launchOn(const std::string &stream) {
    const std::string kernel = "cuLaunchKernel(" + stream + ") ";
    return isOld ? kernel + kernel : "cuGraphLaunch(" + stream + ") ";
  }
};

TEST_F(CudaStreamTest, NothingIsCopiedThatIsThere) {
  if (!onEmulator())
    GTEST_SKIP() << "of the driver that the emulator plays";
  {
    ContextPtr context = on(cuda());
    CallPtr scale = call(context, "scale");
    There<float> x(context, {1, 2, 3}), odd(context, {4, 5, 6}, 4);
    auto runs = [&](const There<float> &from, bool stays) {
      EXPECT_EQ(from.setOf(scale, "x"), "");
      EXPECT_EQ(runWith(scale, stays), ""); // makes memory and the graph
      EXPECT_EQ(runWith(scale, stays), "");
      log();
      int64_t out = calls("bytes out");
      EXPECT_EQ(runWith(scale, stays), "");
      EXPECT_EQ(calls("bytes out") - out, stays ? 8 : 256 + 12);
      return log();
    };
    const std::string rest = launchOn("own") + "cuMemcpyDtoHAsync_v2(own) wait(own) ";
    EXPECT_EQ(runs(x, true), rest); // the fault word's
    EXPECT_EQ(readStayed<float>(context, scale, "y"), (Floats{1.25f, 2, -0.5f}));
    EXPECT_EQ(runs(x, false), rest);
    EXPECT_EQ(result<float>(scale, "y"), (Floats{1.25f, 2, -0.5f}));
    // Within the device only.
    EXPECT_EQ(runs(odd, true), "cuMemcpyDtoDAsync_v2(own) " + rest);
    EXPECT_EQ(readStayed<float>(context, scale, "y"), (Floats{2, 3.5f, -2}));
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaStreamTest, RunsGoToTheCallersStreamAndNobodyWaits) {
  if (!onEmulator())
    GTEST_SKIP() << "of the driver that the emulator plays";
  {
    ContextPtr context = on(cuda());
    DriverContext current(number());
    Stream mine(current);
    name(mine, "mine");
    CallPtr scale = call(context, "scale");
    There<float> x(context, {1, 2, 3});
    EXPECT_EQ(x.setOf(scale, "x"), "");
    EXPECT_EQ(runWith(scale, true, mine.get()), "");
    EXPECT_EQ(runWith(scale, true, mine.get()), "");
    const std::string enters = "cuEventRecord(own) cuStreamWaitEvent(mine) ",
                      leaves = "cuEventRecord(mine) cuStreamWaitEvent(own) ";
    auto asked = [&](bool stays) {
      log();
      int64_t waits = calls("wait"), allocations = calls("cuMemAlloc_v2");
      EXPECT_EQ(runWith(scale, stays, mine.get()), "");
      std::string text = log();
      EXPECT_EQ(calls("wait") - waits, text.find("wait(") != std::string::npos);
      EXPECT_EQ(calls("cuMemAlloc_v2"), allocations);
      return text;
    };
    EXPECT_EQ(asked(true), enters + launchOn("mine") + leaves);
    // The fault word is asked for behind what the caller's stream has, by the own one.
    EXPECT_EQ(message(fovea_call_wait(scale.get())), "");
    EXPECT_EQ(log(), "cuMemcpyDtoHAsync_v2(own) wait(own) ");
    EXPECT_EQ(message(fovea_call_wait(scale.get())), "");
    EXPECT_EQ(log(), "");
    // Results and arguments on the host are waited for.
    EXPECT_EQ(asked(false),
              enters + launchOn("mine") + "cuMemcpyDtoHAsync_v2(mine) wait(mine) " + leaves);
    const Floats host{4};
    EXPECT_EQ(set(scale, "x", host, {1}), "");
    EXPECT_EQ(runWith(scale, true, mine.get()), "");
    EXPECT_EQ(asked(true), enters + "cuMemcpyHtoDAsync_v2(mine) " + launchOn("mine") +
                               "cuMemcpyDtoHAsync_v2(mine) wait(mine) " + leaves);
    // Without a stream all is as it was.
    EXPECT_EQ(run(scale), "");
    EXPECT_EQ(log(), "cuMemcpyHtoDAsync_v2(own) " + launchOn("own") +
                         "cuMemcpyDtoHAsync_v2(own) wait(own) ");
    EXPECT_EQ(result<float>(scale, "y"), Floats{2});
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaStreamTest, ProfilesWaitOnTheCallersStream) {
  {
    ContextPtr context = on(cuda(), /*profile=*/1, /*trace=*/1);
    DriverContext current(number());
    Stream mine(current);
    CallPtr scale = call(context, "scale");
    There<float> x(context, {1, 2, 3});
    EXPECT_EQ(x.setOf(scale, "x"), "");
    const int64_t waits = calls("wait");
    EXPECT_EQ(runWith(scale, true, mine.get()), "");
    EXPECT_TRUE(!onEmulator() || calls("wait") > waits);
    double seconds = 0;
    EXPECT_EQ(message(fovea_call_get_step_time(scale.get(), 1, &seconds)), "");
    EXPECT_GT(seconds, 0);
    EXPECT_EQ(readStayed<float>(context, scale, "y"), (Floats{1.25f, 2, -0.5f}));
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaStreamTest, WorkUnderWayComesBeforeAndBehind) {
  {
    ContextPtr context = on(cuda());
    DriverContext current(number());
    Stream mine(current);
    CallPtr scale = call(context, "scale"), again = call(context, "scale");
    There<float> x(context, {0, 0, 0}), seen(context, {0, 0, 0});
    EXPECT_EQ(x.setOf(scale, "x"), "");
    for (float value : {1.0f, 2.0f, 3.0f, 4.0f}) {
      mine.write(x, {value, value, value});
      EXPECT_EQ(runWith(scale, true, mine.get()), "");
      const fovea_tensor y = stayed(context, scale, "y");
      EXPECT_EQ(message(fovea_call_set_argument(again.get(), "x", &y)), "");
      EXPECT_EQ(runWith(again, true, mine.get()), "");
      mine.copy(seen, stayed(context, again, "y"));
      mine.write(x, {9, 9, 9}); // what the run has read
      mine.wait();
      auto twice = [&](float weight) { return (value * weight + 1) * weight + 1; };
      EXPECT_EQ(seen.read(), (Floats{twice(0.25f), twice(0.5f), twice(-0.5f)}));
    }
    // More memory, while what has the old one may be under way.
    There<float> large(context, Floats(1000, 2));
    EXPECT_EQ(large.setOf(scale, "x"), "");
    mine.copy(seen, stayed(context, scale, "y"));
    EXPECT_EQ(runWith(scale, true, mine.get()), "");
    EXPECT_EQ(readStayed<float>(context, scale, "y")[999], 5.0f);
    EXPECT_EQ(seen.read(), (Floats{2, 3, -1}));
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaStreamTest, RunsOnSeveralStreamsAreInOrder) {
  {
    ContextPtr context = on(cuda());
    DriverContext current(number());
    CallPtr grow = call(context, "grow");
    There<float> x(context, {1, 1});
    std::vector<std::unique_ptr<There<float>>> own; // streams' writes are in no order
    float sum = 0;
    Stream kept(current);
    for (float value : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f}) {
      {
        // Which is gone before its work is waited for.
        Stream mine(current);
        own.push_back(std::make_unique<There<float>>(context, Floats{1, 1}));
        mine.write(*own.back(), {value, 1});
        EXPECT_EQ(own.back()->setOf(grow, "x"), "");
        EXPECT_EQ(runWith(grow, true, mine.get()), "");
      }
      kept.write(x, {value + 0.5f, 1});
      EXPECT_EQ(x.setOf(grow, "x"), "");
      EXPECT_EQ(runWith(grow, true, kept.get()), "");
      sum += 2 * value + 0.5f;
    }
    // One that waits, on the context's own.
    const Floats last{100, 0};
    EXPECT_EQ(set(grow, "x", last, {2}), "");
    EXPECT_EQ(run(grow), "");
    EXPECT_EQ(result<float>(grow, "sum"), (Floats{100 + sum, 10}));
    // Emptied behind what is under way, before what comes then.
    EXPECT_EQ(x.setOf(grow, "x"), "");
    kept.write(x, {7, 7});
    EXPECT_EQ(runWith(grow, true, kept.get()), "");
    EXPECT_EQ(message(fovea_context_reset(context.get())), "");
    EXPECT_EQ(runWith(grow, true, kept.get()), "");
    EXPECT_EQ(readStayed<float>(context, grow, "sum"), (Floats{7, 7}));
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaStreamTest, FaultsAreToldWhenSomebodyWaits) {
  {
    ContextPtr context = on(cuda());
    DriverContext current(number());
    Stream mine(current);
    CallPtr check = call(context, "check");
    There<int64_t> good(context, {1, 2}), bad(context, {1, 10});
    const std::string fault = "entry 'check': kernel 'check' (here.check) met an index or a size "
                              "out of bounds; look at the values of 'ids'";
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(bad.setOf(check, "ids"), "");
      EXPECT_EQ(runWith(check, true, mine.get()), "");
      EXPECT_EQ(good.setOf(check, "ids"), "");
      EXPECT_EQ(runWith(check, true, mine.get()), "");
      EXPECT_EQ(message(fovea_call_wait(check.get())), fault);
      const fovea_tensor *none = nullptr;
      expectIn(message(fovea_call_get_result(check.get(), "out", &none)), "has not been run");
      // Told once.
      EXPECT_EQ(message(fovea_call_wait(check.get())), "");
      EXPECT_EQ(runWith(check, true, mine.get()), "");
      EXPECT_EQ(message(fovea_call_wait(check.get())), "");
      EXPECT_EQ(readStayed<int64_t>(context, check, "out"), (Ids{1, 2}));
      // By a run that waits.
      EXPECT_EQ(bad.setOf(check, "ids"), "");
      EXPECT_EQ(runWith(check, true, mine.get()), "");
      EXPECT_EQ(good.setOf(check, "ids"), "");
      EXPECT_EQ(run(check), fault);
      EXPECT_EQ(run(check), "");
    }
    // The word's memory goes with that of results that grow, and after it the host finds a fault.
    There<int64_t> more(context, Ids(1000, 3)), thirteen(context, Ids(13, 3));
    EXPECT_EQ(bad.setOf(check, "ids"), "");
    EXPECT_EQ(runWith(check, true, mine.get()), "");
    EXPECT_EQ(more.setOf(check, "ids"), "");
    EXPECT_EQ(runWith(check, true, mine.get()), "");
    EXPECT_EQ(thirteen.setOf(check, "ids"), "");
    EXPECT_EQ(runWith(check, true, mine.get()), fault);
    EXPECT_EQ(message(fovea_call_wait(check.get())), fault);
    EXPECT_EQ(message(fovea_call_wait(check.get())), "");
    EXPECT_EQ(bad.setOf(check, "ids"), "");
    EXPECT_EQ(runWith(check, true, mine.get()), "");
    EXPECT_EQ(thirteen.setOf(check, "ids"), "");
    EXPECT_EQ(runWith(check, true, mine.get()), fault);
    EXPECT_EQ(more.setOf(check, "ids"), "");
    EXPECT_EQ(run(check), fault);
    EXPECT_EQ(run(check), "");
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaStreamTest, StreamsThatCannotBeUsedAreRefused) {
  if (!onEmulator())
    GTEST_SKIP() << "of the driver that the emulator plays";
  {
    ContextPtr context = on("cuda");
    CallPtr scale = call(context, "scale");
    There<float> x(context, {1, 2, 3});
    EXPECT_EQ(x.setOf(scale, "x"), "");
    {
      DriverContext current(2);
      Stream other(current);
      EXPECT_EQ(runWith(scale, true, other.get()),
                "CUDA device 0 (Fake GPU): expects a stream of its primary context, got one of "
                "another context");
    }
    DriverContext current;
    Stream mine(current);
    name(mine, "mine", /*isCaptured=*/true);
    log();
    EXPECT_EQ(runWith(scale, true, mine.get()),
              "CUDA device 0 (Fake GPU): expects a stream that runs what it is asked for, got one "
              "that is being captured");
    EXPECT_EQ(log(), "");
    name(mine, "mine");
    // What fails on the stream is left behind as it was found.
    CallPtr check = call(context, "check");
    EXPECT_EQ(runWith(check, true, mine.get()), "entry 'check': argument 'ids' is missing");
    EXPECT_EQ(log(), "cuEventRecord(own) cuStreamWaitEvent(mine) cuEventRecord(mine) "
                     "cuStreamWaitEvent(own) ");
    EXPECT_EQ(run(scale), "");
    EXPECT_EQ(log().find("mine"), std::string::npos);
  }
  EXPECT_EQ(inUse(), 0);
}

TEST_F(CudaStreamTest, AddressesElsewhereAreRefused) {
  {
    ContextPtr context = on(cuda());
    CallPtr scale = call(context, "scale");
    const fovea_device device = deviceOf(context);
    EXPECT_EQ(device.type, FOVEA_CUDA);
    EXPECT_EQ(device.id, number());
    Floats host{1, 2};
    EXPECT_EQ(There<float>::setThere<float>(scale, "x", host.data(), device, 2), "");
    const std::string error = run(scale);
    expectIn(error, "entry 'scale': argument 'x' expects 8 bytes in the memory of CUDA device ");
    expectIn(error, ", which the driver does not know");
    if (onEmulator()) {
      std::unique_ptr<Device> other = makeDevice("cuda:2", 1);
      uint64_t address = other->allocate(8, "memory");
      EXPECT_EQ(
          There<float>::setThere<float>(scale, "x", reinterpret_cast<void *>(address), device, 2),
          "");
      expectIn(run(scale), ", which is in the memory of CUDA device 2");
      other->release(address);
    }
    There<float> x(context, {4, 4});
    EXPECT_EQ(x.setOf(scale, "x"), "");
    EXPECT_EQ(run(scale), "");
    EXPECT_EQ(result<float>(scale, "y"), (Floats{2, 3}));
    void *memory = nullptr; // goes with the context
    EXPECT_EQ(message(fovea_context_allocate(context.get(), 100, &memory)), "");
  }
  EXPECT_EQ(inUse(), 0);
}

} // namespace
