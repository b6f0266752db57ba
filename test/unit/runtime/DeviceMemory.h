// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short words for tensors in the memory of a context's device, and for runs with options.
#ifndef FOVEA_TEST_UNIT_RUNTIME_DEVICEMEMORY_H
#define FOVEA_TEST_UNIT_RUNTIME_DEVICEMEMORY_H

#include "test/unit/runtime/RuntimeTest.h"

namespace fovea::test {

inline fovea_device deviceOf(const ContextPtr &context) {
  fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
  EXPECT_EQ(message(fovea_context_get_info(context.get(), &info)), "");
  return info.device;
}

/// Numbers in the memory of a context's device, `offset` bytes behind where memory begins. Goes
/// before its context.
template <typename T> class There {
public:
  There(const ContextPtr &context, const std::vector<T> &data, size_t offset = 0)
      : context(context.get()), device(deviceOf(context)), count(data.size()) {
    EXPECT_EQ(message(fovea_context_allocate(this->context, offset + count * sizeof(T), &begin)),
              "");
    at = static_cast<char *>(begin) + offset;
    write(data);
  }
  ~There() { EXPECT_EQ(message(fovea_context_release(context, begin)), ""); }
  There(const There &) = delete;

  void write(const std::vector<T> &data) {
    EXPECT_EQ(message(fovea_context_copy_in(context, at, data.data(), data.size() * sizeof(T))),
              "");
  }
  std::vector<T> read() const {
    std::vector<T> data(count);
    EXPECT_EQ(message(fovea_context_copy_out(context, data.data(), at, count * sizeof(T))), "");
    return data;
  }
  void *address() const { return at; }
  size_t bytes() const { return count * sizeof(T); }
  std::string setOf(const CallPtr &call, const char *name) const {
    return setThere<T>(call, name, at, device, static_cast<int64_t>(count));
  }

  template <typename U>
  static std::string setThere(const CallPtr &call, const char *name, void *data,
                              fovea_device device, int64_t size) {
    fovea_tensor tensor{};
    tensor.data = data;
    tensor.device = device;
    tensor.ndim = 1;
    const bool isFloat = U(0.5) != U(0);
    tensor.dtype = {static_cast<uint8_t>(isFloat ? FOVEA_FLOAT : FOVEA_INT), 8 * sizeof(U), 1};
    tensor.shape = &size;
    return message(fovea_call_set_argument(call.get(), name, &tensor));
  }

private:
  fovea_context *context;
  fovea_device device;
  size_t count;
  void *begin = nullptr, *at = nullptr;
};

inline std::string runWith(const CallPtr &call, bool resultsStay, void *stream = nullptr) {
  fovea_run_options options = FOVEA_RUN_OPTIONS_INIT;
  options.results_on_device = resultsStay;
  options.stream = stream;
  return message(fovea_call_run_with(call.get(), &options));
}

/// A result of one dimension that stayed on the context's device.
inline fovea_tensor stayed(const ContextPtr &context, const CallPtr &call, const char *name) {
  const fovea_tensor *tensor = nullptr;
  EXPECT_EQ(message(fovea_call_get_result(call.get(), name, &tensor)), "");
  if (!tensor)
    return {};
  const fovea_device own = deviceOf(context);
  EXPECT_EQ(tensor->device.type, own.type);
  EXPECT_EQ(tensor->device.id, own.id);
  return *tensor;
}

template <typename T>
std::vector<T> readStayed(const ContextPtr &context, const CallPtr &call, const char *name) {
  const fovea_tensor tensor = stayed(context, call, name);
  std::vector<T> data(tensor.shape ? static_cast<size_t>(tensor.shape[0]) : 0);
  EXPECT_EQ(message(fovea_context_copy_out(context.get(), data.data(), tensor.data,
                                           data.size() * sizeof(T))),
            "");
  return data;
}

} // namespace fovea::test

#endif // FOVEA_TEST_UNIT_RUNTIME_DEVICEMEMORY_H
