// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structures that begin with their size: callers that know fewer fields, or more, than this
// library.
#include "test/unit/runtime/RuntimeTest.h"

#include <cstddef>
#include <cstring>

using namespace fovea;
using namespace fovea::test;

namespace {

/// What a later version of the header may declare.
template <typename Info> struct Later {
  Info info;
  int64_t field = 77;
};

TEST_F(RuntimeTest, FieldsOfLaterVersionsAreLeft) {
  Later<fovea_entry_info> entry = {FOVEA_ENTRY_INFO_INIT};
  entry.info.struct_size = sizeof(entry);
  EXPECT_EQ(message(fovea_module_get_entry(module.get(), 0, &entry.info)), "");
  EXPECT_EQ(entry.info.struct_size, sizeof(entry));
  EXPECT_NE(entry.info.name, nullptr);
  EXPECT_EQ(entry.field, 77);
  Later<fovea_context_options> options = {FOVEA_CONTEXT_OPTIONS_INIT};
  options.info.struct_size = sizeof(options);
  options.info.capacity = 9;
  fovea_context *made = nullptr;
  ASSERT_EQ(message(fovea_context_create(module.get(), &options.info, &made)), "");
  ContextPtr own(made);
  fovea_context_info context = FOVEA_CONTEXT_INFO_INIT;
  EXPECT_EQ(message(fovea_context_get_info(own.get(), &context)), "");
  EXPECT_EQ(context.capacity, 9);
}

TEST_F(RuntimeTest, NothingIsWrittenBehindTheSize) {
  // Ends with its last field, before the bytes that round it up.
  constexpr size_t size = offsetof(fovea_generate_result, stop) + sizeof(fovea_stop);
  static_assert(size < sizeof(fovea_generate_result));
  alignas(fovea_generate_result) unsigned char bytes[sizeof(fovea_generate_result)];
  std::memset(bytes, 0xaa, sizeof(bytes));
  std::memcpy(bytes, &size, sizeof(size));
  const int64_t prompt[] = {1, 2};
  fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
  options.prompt_ids = prompt;
  options.prompt_id_count = 2;
  options.max_tokens = 0;
  ContextPtr own = context();
  auto *result = reinterpret_cast<fovea_generate_result *>(bytes);
  ASSERT_EQ(message(fovea_generate(own.get(), &options, result)), "");
  EXPECT_EQ(result->struct_size, size);
  EXPECT_EQ(result->prompt_tokens, 2u);
  EXPECT_EQ(result->stop, FOVEA_STOP_COUNT);
  for (size_t i = size; i < sizeof(bytes); ++i)
    EXPECT_EQ(bytes[i], 0xaa) << i;
}

/// Calls `use` with sizes that no version had: `use` gives what it says to one of them.
template <typename Use> void expectSizesAreRefused(const std::string &name, Use use) {
  for (size_t wrong : {size_t(0), size_t(8), size_t(4097), SIZE_MAX}) {
    std::string text = use(wrong);
    EXPECT_EQ(text.find(name + ": expects a struct_size from "), 0u) << text;
    EXPECT_NE(text.find(", as its _INIT macro sets it, got " + std::to_string(wrong)),
              std::string::npos)
        << text;
  }
}

template <typename Struct, typename Use>
void expectSizesAreRefused(const char *name, Struct value, Use use) {
  const Struct before = value;
  expectSizesAreRefused(name, [&](size_t size) {
    value.struct_size = size;
    std::string text = message(use(&value));
    value.struct_size = before.struct_size;
    EXPECT_EQ(std::memcmp(&value, &before, sizeof(value)), 0) << name;
    return text;
  });
}

TEST_F(RuntimeTest, SizesThatNoVersionHadAreRefused) {
  ContextPtr own = context();
  fovea_module *opened = nullptr;
  fovea_context *made = nullptr;
  expectSizesAreRefused(
      "fovea_module_options", fovea_module_options FOVEA_MODULE_OPTIONS_INIT,
      [&](auto *options) { return fovea_module_open_with(path.c_str(), options, &opened); });
  expectSizesAreRefused(
      "fovea_context_options", fovea_context_options FOVEA_CONTEXT_OPTIONS_INIT,
      [&](auto *options) { return fovea_context_create(module.get(), options, &made); });
  expectSizesAreRefused("fovea_threading", fovea_threading FOVEA_THREADING_INIT,
                        [&](auto *threading) {
                          fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
                          options.threading = threading;
                          return fovea_context_create(module.get(), &options, &made);
                        });
  EXPECT_EQ(opened, nullptr);
  EXPECT_EQ(made, nullptr);
  expectSizesAreRefused("fovea_module_info", fovea_module_info FOVEA_MODULE_INFO_INIT,
                        [&](auto *info) { return fovea_module_get_info(module.get(), info); });
  fovea_text text = {"a", 1};
  expectSizesAreRefused("fovea_encoding", fovea_encoding FOVEA_ENCODING_INIT, [&](auto *row) {
    return fovea_module_encode_texts(module.get(), &text, 1, 0, row);
  });
  expectSizesAreRefused("fovea_entry_info", fovea_entry_info FOVEA_ENTRY_INFO_INIT,
                        [&](auto *info) { return fovea_module_get_entry(module.get(), 0, info); });
  expectSizesAreRefused(
      "fovea_value_info", fovea_value_info FOVEA_VALUE_INFO_INIT,
      [&](auto *info) { return fovea_module_get_argument(module.get(), 0, 0, info); });
  expectSizesAreRefused(
      "fovea_value_info", fovea_value_info FOVEA_VALUE_INFO_INIT,
      [&](auto *info) { return fovea_module_get_result(module.get(), 0, 0, info); });
  expectSizesAreRefused("fovea_step_info", fovea_step_info FOVEA_STEP_INFO_INIT, [&](auto *info) {
    return fovea_module_get_step(module.get(), 0, 0, info);
  });
  expectSizesAreRefused("fovea_step_info", fovea_step_info FOVEA_STEP_INFO_INIT,
                        [&](auto *info) { return fovea_context_get_step(own.get(), 0, 0, info); });
  expectSizesAreRefused("fovea_context_info", fovea_context_info FOVEA_CONTEXT_INFO_INIT,
                        [&](auto *info) { return fovea_context_get_info(own.get(), info); });
  CallPtr add = call(own, "add");
  expectSizesAreRefused("fovea_run_options", fovea_run_options FOVEA_RUN_OPTIONS_INIT,
                        [&](auto *options) { return fovea_call_run_with(add.get(), options); });
  fovea_generate_options request = FOVEA_GENERATE_OPTIONS_INIT;
  expectSizesAreRefused("fovea_generate_options", request,
                        [&](auto *options) { return fovea_generate(own.get(), options, nullptr); });
  expectSizesAreRefused("fovea_generate_result", fovea_generate_result FOVEA_GENERATE_RESULT_INIT,
                        [&](auto *result) { return fovea_generate(own.get(), &request, result); });
}

} // namespace
