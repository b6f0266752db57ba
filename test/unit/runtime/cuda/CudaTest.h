// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contexts on CUDA, by the driver that is none unless FOVEA_TEST_DEVICE names a real one.
#ifndef FOVEA_TEST_UNIT_RUNTIME_CUDA_CUDATEST_H
#define FOVEA_TEST_UNIT_RUNTIME_CUDA_CUDATEST_H

#include "test/unit/runtime/DeviceTest.h"

#include <dlfcn.h>

namespace fovea::test {

#ifdef FOVEA_OLD_DRIVER
inline constexpr bool isOld = true;
#else
inline constexpr bool isOld = false;
#endif

class CudaTest : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!onEmulator())
      return;
    // Whoever asks for libcuda.so.1 after this gets it, for that is its name.
    driver = ::dlopen(FOVEA_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(driver) << ::dlerror();
  }
  /// What a device holds is known of the driver that is none only.
  int64_t inUse() {
    if (!driver)
      return 0;
    return reinterpret_cast<int64_t (*)()>(::dlsym(driver, "fake_driver_in_use"))();
  }
  /// How often it was called for, likewise.
  int64_t calls(const char *function) {
    if (!driver)
      return 0;
    return reinterpret_cast<int64_t (*)(const char *)>(::dlsym(driver, "fake_driver_calls"))(
        function);
  }
  static const char *cuda() { return onEmulator() ? "cuda" : testDevice(); }
  void *driver = nullptr;
};

} // namespace fovea::test

#endif // FOVEA_TEST_UNIT_RUNTIME_CUDA_CUDATEST_H
