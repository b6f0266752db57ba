// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime's tests share: an opened test artifact and short words for the
// C interface, through which all is tested.
#ifndef FOVEA_TEST_UNIT_RUNTIME_RUNTIMETEST_H
#define FOVEA_TEST_UNIT_RUNTIME_RUNTIMETEST_H

#include "runtime/include/fovea/runtime.h"
#include "test/unit/support/TestArtifact.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace fovea::test {

/// The message of a status, "" for success; frees it.
inline std::string message(fovea_status *status) {
  std::string text = fovea_status_message(status);
  fovea_status_free(status);
  return text;
}

struct ModuleFree {
  void operator()(fovea_module *module) const { fovea_module_free(module); }
};
struct ContextFree {
  void operator()(fovea_context *context) const { fovea_context_free(context); }
};
struct CallFree {
  void operator()(fovea_call *call) const { fovea_call_free(call); }
};
using ModulePtr = std::unique_ptr<fovea_module, ModuleFree>;
using ContextPtr = std::unique_ptr<fovea_context, ContextFree>;
using CallPtr = std::unique_ptr<fovea_call, CallFree>;

class RuntimeTest : public ::testing::Test {
protected:
  void SetUp() override {
    path = folder.file("test.fovea");
    writeTestArtifact(path);
    module = open(path);
  }

  static ModulePtr open(const std::string &path) {
    fovea_module *opened = nullptr;
    EXPECT_EQ(message(fovea_module_open(path.c_str(), &opened)), "");
    return ModulePtr(opened);
  }

  ContextPtr context(int32_t threads = 1, int64_t capacity = 0,
                     const fovea_threading *threading = nullptr, int profile = 0) {
    fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
    options.threads = threads;
    options.capacity = capacity;
    options.threading = threading;
    options.profile = profile;
    fovea_context *made = nullptr;
    EXPECT_EQ(message(fovea_context_create(module.get(), &options, &made)), "");
    return ContextPtr(made);
  }

  static CallPtr call(const ContextPtr &context, const char *entry) {
    fovea_call *made = nullptr;
    EXPECT_EQ(message(fovea_call_create(context.get(), entry, &made)), "");
    return CallPtr(made);
  }

  /// Sets a row-major argument; returns the message.
  static std::string set(const CallPtr &call, const char *name, const void *data, uint8_t code,
                         uint8_t bits, std::vector<int64_t> shape) {
    fovea_tensor tensor{};
    tensor.data = const_cast<void *>(data);
    tensor.device.type = FOVEA_CPU;
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = {code, bits, 1};
    tensor.shape = shape.data();
    return message(fovea_call_set_argument(call.get(), name, &tensor));
  }
  static std::string set(const CallPtr &call, const char *name, const std::vector<float> &data,
                         std::vector<int64_t> shape) {
    return set(call, name, data.data(), FOVEA_FLOAT, 32, std::move(shape));
  }
  static std::string set(const CallPtr &call, const char *name, const std::vector<int64_t> &data,
                         std::vector<int64_t> shape) {
    return set(call, name, data.data(), FOVEA_INT, 64, std::move(shape));
  }
  static std::string run(const CallPtr &call) { return message(fovea_call_run(call.get())); }

  /// All elements of a result.
  template <typename T> static std::vector<T> result(const CallPtr &call, const char *name) {
    const fovea_tensor *tensor = nullptr;
    std::string error = message(fovea_call_get_result(call.get(), name, &tensor));
    EXPECT_EQ(error, "");
    if (!error.empty())
      return {};
    int64_t count = 1;
    for (int32_t i = 0; i < tensor->ndim; ++i)
      count *= tensor->shape[i];
    const T *data = static_cast<const T *>(tensor->data);
    return {data, data + count};
  }

  static void expectIn(const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  TemporaryFolder folder;
  std::string path;
  ModulePtr module;
};

} // namespace fovea::test

#endif // FOVEA_TEST_UNIT_RUNTIME_RUNTIMETEST_H
