// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An artifact with kernels by hand for a device (DeviceCode.c, DeviceCode.ptx), and contexts there.
#ifndef FOVEA_TEST_UNIT_RUNTIME_DEVICETEST_H
#define FOVEA_TEST_UNIT_RUNTIME_DEVICETEST_H

#include "artifact/ArtifactWriter.h"
#include "test/unit/runtime/RuntimeTest.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace fovea::test {

inline std::vector<uint8_t> readBytes(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::unique_ptr<manifest::ValueT> tensor(const char *name, manifest::ElementType element,
                                                const char *dim) {
  auto value = std::make_unique<manifest::ValueT>();
  value->name = name;
  value->element = element;
  value->shape = {-1};
  value->dims = {dim};
  return value;
}

inline std::unique_ptr<manifest::ValueT> cache(int continues) {
  auto value = std::make_unique<manifest::ValueT>();
  value->name = "cache";
  value->kind = manifest::ValueKind::Cache;
  value->element = manifest::ElementType::F32;
  value->heads = value->size = 1;
  value->dims = {"batch"};
  value->continues = continues;
  return value;
}

/// The device that the tests are about: FOVEA_TEST_DEVICE, as scripts/test --gpu sets it, or the
/// emulator.
inline const char *testDevice() {
  const char *name = std::getenv("FOVEA_TEST_DEVICE");
  return name ? name : "emulator";
}
inline bool onEmulator() { return std::string(testDevice()) == "emulator"; }

class DeviceTest : public RuntimeTest {
protected:
  void SetUp() override {
    path = folder.file("device.fovea");
    write(path, "sm_80");
    module = open(path);
  }

  /// Without a chip there is no code for a device; `spoil` changes the PTX. `packed`: the weight is
  /// the first of two outputs, stored in panels of 8, and the device wants its inputs beside each
  /// other.
  static void write(const std::string &path, const std::string &chip,
                    const std::function<void(std::string &)> &spoil = {}, bool packed = false) {
    std::string error;
    auto writer = artifact::ArtifactWriter::create(path, error);
    ASSERT_TRUE(writer) << error;
    std::vector<float> values = {0.25f, 0.5f, -0.5f, 2.0f};
    std::vector<int64_t> shape = {4};
    if (packed) {
      std::vector<float> panel(4 * 8);
      for (size_t i = 0; i < 4; ++i)
        panel[i * 8] = values[i], panel[i * 8 + 1] = 9;
      values = panel;
      shape = {2, 4};
    }
    size_t bytes = values.size() * sizeof(float);
    unsigned weight = writer->addWeight("scale", manifest::ElementType::F32, shape,
                                        packed ? Panels{8, 1} : Panels(), bytes);
    ASSERT_TRUE(writer->appendWeight(weight, values.data(), bytes, error)) << error;

    manifest::ManifestT manifest;
    manifest.model = std::make_unique<manifest::ModelInfoT>();
    auto device = std::make_unique<manifest::DeviceT>();
    device->chip = chip;
    if (packed)
      device->layouts = {{8, 4}};
    auto add = [&](const char *name, uint32_t locals, std::vector<const char *> kernels,
                   std::unique_ptr<manifest::ValueT> argument,
                   std::unique_ptr<manifest::ValueT> result) {
      auto entry = std::make_unique<manifest::EntryT>();
      auto program = std::make_unique<manifest::ProgramT>();
      entry->name = name;
      entry->locals = program->locals = locals;
      entry->arguments.push_back(std::move(argument));
      entry->results.push_back(std::move(result));
      for (const char *kernel : kernels)
        for (bool onDevice : {false, true}) {
          auto &all = onDevice ? device->kernels : manifest.kernels;
          const std::string own = onDevice ? kernel : std::string("cpu_") + kernel;
          auto known = std::find_if(all.begin(), all.end(),
                                    [&](const auto &other) { return other->name == own; });
          auto step = std::make_unique<manifest::StepT>();
          step->kernel = static_cast<uint32_t>(known - all.begin());
          step->location = std::string("here.") + name;
          (onDevice ? program->steps : entry->steps).push_back(std::move(step));
          if (known != all.end())
            continue;
          auto described = std::make_unique<manifest::KernelT>();
          described->name = own;
          described->threads = onDevice ? 64 : 0;
          all.push_back(std::move(described));
        }
      manifest.entries.push_back(std::move(entry));
      device->programs.push_back(std::move(program));
    };
    add("scale", 3, {"scale", "plus_one"}, tensor("x", manifest::ElementType::F32, "n"),
        tensor("y", manifest::ElementType::F32, "n"));
    for (auto *steps : {&manifest.entries[0]->steps, &device->programs[0]->steps})
      (*steps)[1]->bytes = 2;
    add("grow", 4, {"append", "total"}, tensor("x", manifest::ElementType::F32, "batch"),
        tensor("sum", manifest::ElementType::F32, "batch"));
    manifest.entries.back()->arguments.push_back(cache(-1));
    manifest.entries.back()->results.push_back(cache(1));
    add("check", 2, {"check", "check"}, tensor("ids", manifest::ElementType::I64, "n"),
        tensor("out", manifest::ElementType::I64, "n"));
    for (auto [entry, kind] : {std::make_pair("prefill", manifest::EntryKind::Prefill),
                               std::make_pair("decode", manifest::EntryKind::Decode)}) {
      auto ids = tensor("input_ids", manifest::ElementType::I64, "n"),
           logits = tensor("logits", manifest::ElementType::F32, "");
      ids->role = manifest::Role::TokenIds;
      logits->role = manifest::Role::Logits;
      ids->shape = {1, -1};
      ids->dims = {"", "n"};
      logits->shape = {1, 8};
      logits->dims = {"", ""};
      add(entry, 5, {"follow"}, std::move(ids), std::move(logits));
      auto next = tensor("next_token", manifest::ElementType::I64, "");
      next->shape = {1};
      next->role = manifest::Role::NextToken;
      manifest.entries.back()->kind = kind;
      manifest.entries.back()->results.push_back(std::move(next));
    }

    std::vector<uint8_t> code = readBytes(FOVEA_DEVICE_CODE);
    writer->setCode(code);
    if (!chip.empty()) {
      std::vector<uint8_t> text = readBytes(FOVEA_DEVICE_PTX);
      std::string ptx(text.begin(), text.end());
      if (spoil)
        spoil(ptx);
      writer->addDeviceCode(ptx, {}, code);
      manifest.devices.push_back(std::move(device));
    }
    ASSERT_TRUE(writer->finish(std::move(manifest), error)) << error;
  }

  /// The message; `made` is the context without one.
  std::string make(const char *device, ContextPtr &made, int profile = 0, int trace = 0) {
    fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
    options.threads = 2;
    options.capacity = 16;
    options.device = device;
    options.profile = profile;
    options.trace = trace;
    fovea_context *context = nullptr;
    std::string error = message(fovea_context_create(module.get(), &options, &context));
    made.reset(context);
    return error;
  }
  /// Sets the argument to data that lives as long as the test, runs, and gives the message.
  template <typename T>
  std::string runOn(const CallPtr &call, const char *name, std::vector<T> data) {
    auto mine = std::make_shared<std::vector<T>>(std::move(data));
    kept.push_back(mine);
    EXPECT_EQ(set(call, name, *mine, {static_cast<int64_t>(mine->size())}), "");
    return run(call);
  }
  ContextPtr on(const char *device, int profile = 0, int trace = 0) {
    ContextPtr made;
    EXPECT_EQ(make(device, made, profile, trace), "");
    return made;
  }

  /// Continues `prompt` and gives the tokens in `written`; the message.
  static std::string generate(const ContextPtr &context, std::vector<int64_t> prompt, int64_t count,
                              std::vector<int64_t> &written, float temperature = 0) {
    fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
    options.temperature = temperature;
    options.top_k = 1;
    options.max_tokens = count;
    options.prompt_ids = prompt.data();
    options.prompt_id_count = prompt.size();
    options.user = &written;
    options.on_piece = [](void *user, int64_t token, const char *, size_t) {
      static_cast<std::vector<int64_t> *>(user)->push_back(token);
      return 0;
    };
    written.clear();
    fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
    return message(fovea_generate(context.get(), &options, &result));
  }

  /// Token by token, and a logit that is no number: no token is written that it gave.
  void expectGenerates(const std::string &device) {
    using Tokens = std::vector<int64_t>;
    ContextPtr context = on(device.c_str());
    Tokens written;
    for (float temperature : {0.0f, 1.0f}) {
      EXPECT_EQ(generate(context, {3, 7}, 6, written, temperature), "");
      EXPECT_EQ(written, (Tokens{0, 1, 2, 3, 4, 5})) << device;
      // At once, after some, as the last.
      EXPECT_EQ(generate(context, {5}, 3, written, temperature), "logit 6 is not a number");
      EXPECT_EQ(written, Tokens()) << device;
      EXPECT_EQ(generate(context, {2}, 9, written, temperature), "logit 6 is not a number");
      EXPECT_EQ(written, (Tokens{3, 4, 5})) << device;
      EXPECT_EQ(generate(context, {2}, 4, written, temperature), "logit 6 is not a number");
      EXPECT_EQ(generate(context, {2}, 3, written, temperature), "");
    }
    // Other calls bring everything.
    const Tokens ids{4};
    CallPtr decode = call(context, "decode");
    EXPECT_EQ(set(decode, "input_ids", ids, {1, 1}), "");
    EXPECT_EQ(run(decode), "");
    EXPECT_EQ(result<float>(decode, "logits"), (std::vector<float>{0, 0, 0, 0, 0, 1, 0, 0}));
    EXPECT_EQ(result<int64_t>(decode, "next_token"), Tokens{5});
  }

private:
  std::vector<std::shared_ptr<void>> kept;
};

} // namespace fovea::test

#endif // FOVEA_TEST_UNIT_RUNTIME_DEVICETEST_H
