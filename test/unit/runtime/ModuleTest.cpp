// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening artifacts and asking what is inside.
#include "test/unit/runtime/RuntimeTest.h"

#include "artifact/ArtifactWriter.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Module.h"

#include <fstream>

using namespace fovea;
using namespace fovea::test;

namespace {

TEST_F(RuntimeTest, TellsWhatIsInside) {
  fovea_module_info info = FOVEA_MODULE_INFO_INIT;
  ASSERT_EQ(message(fovea_module_get_info(module.get(), &info)), "");
  EXPECT_STREQ(info.architecture, "counting");
  EXPECT_EQ(info.kind, FOVEA_DECODER);
  EXPECT_EQ(info.end_token_count, 1u);
  EXPECT_EQ(info.weight_bytes, 16u);
  EXPECT_TRUE(info.has_tokenizer);
  EXPECT_EQ(info.label_count, 2u);
  EXPECT_EQ(info.score_function, FOVEA_SIGMOID);
  const char *label = nullptr;
  ASSERT_EQ(message(fovea_module_get_label(module.get(), 1, &label)), "");
  EXPECT_STREQ(label, "yes");
  expectIn(message(fovea_module_get_label(module.get(), 2, &label)), "no label number 2 of 2");
  fovea_image_info images = FOVEA_IMAGE_INFO_INIT;
  ASSERT_EQ(message(fovea_module_get_image_info(module.get(), &images)), "");
  EXPECT_TRUE(images.is_known);
  EXPECT_EQ(images.shortest_edge, 8);
  EXPECT_EQ(images.crop_width, 7);
  EXPECT_EQ(images.filter, FOVEA_BICUBIC);
  EXPECT_EQ(images.deviation[2], 0.25);
  size_t entry = 99;
  ASSERT_EQ(message(fovea_module_find_entry(module.get(), "prefill", &entry)), "");
  fovea_entry_info prefill = FOVEA_ENTRY_INFO_INIT;
  ASSERT_EQ(message(fovea_module_get_entry(module.get(), entry, &prefill)), "");
  EXPECT_EQ(prefill.argument_count, 2u);
  EXPECT_EQ(prefill.step_count, 2u);
  fovea_value_info value = FOVEA_VALUE_INFO_INIT;
  ASSERT_EQ(message(fovea_module_get_argument(module.get(), entry, 0, &value)), "");
  EXPECT_STREQ(value.name, "input_ids");
  EXPECT_EQ(value.dtype.bits, 64);
  EXPECT_STREQ(value.dimensions[1], "sequence");
  ASSERT_EQ(message(fovea_module_get_argument(module.get(), entry, 1, &value)), "");
  EXPECT_TRUE(value.is_cache);
  fovea_step_info step = FOVEA_STEP_INFO_INIT;
  ASSERT_EQ(message(fovea_module_get_step(module.get(), entry, 1, &step)), "");
  EXPECT_STREQ(step.kernel, "prefill_1");
  EXPECT_STREQ(step.location, "test.prefill");
  EXPECT_STREQ(step.schedule, "");
  expectIn(message(fovea_module_find_entry(module.get(), "backward", &entry)), "'forward'");
  EXPECT_NE(message(fovea_module_get_entry(module.get(), 77, &prefill)), "");
  EXPECT_NE(message(fovea_module_get_entry(nullptr, 0, &prefill)), "");
  EXPECT_NE(message(fovea_module_get_argument(module.get(), entry, 77, &value)), "");
}

TEST_F(RuntimeTest, TextsAsOneRow) {
  fovea_text texts[] = {{"abcd", 4}, {"ef", 2}};
  /// "id:text:type" of each token.
  auto encode = [&](size_t count, size_t most) {
    fovea_encoding row = FOVEA_ENCODING_INIT;
    EXPECT_EQ(message(fovea_module_encode_texts(module.get(), texts, count, most, &row)), "");
    std::string text;
    for (size_t i = 0; i < row.count; ++i)
      text += (i ? " " : "") + std::to_string(row.ids[i]) + ":" + std::to_string(row.texts[i]) +
              ":" + std::to_string(row.types[i]);
    fovea_free(row.ids);
    return text + (row.cut ? " cut" : "");
  };
  EXPECT_EQ(encode(1, 0), "0:-1:0 2:0:0 3:0:0 4:0:0 5:0:0");
  EXPECT_EQ(encode(1, 5), encode(1, 0));
  EXPECT_EQ(encode(1, 3), "0:-1:0 2:0:0 3:0:0 cut");
  EXPECT_EQ(encode(2, 0), "2:0:0 3:0:0 4:0:0 5:0:0 6:1:1 7:1:1");
  EXPECT_EQ(encode(2, 5), "2:0:0 3:0:0 4:0:0 6:1:1 7:1:1 cut");
  int64_t id = 0;
  ASSERT_EQ(message(fovea_module_find_token(module.get(), "</s>", 4, &id)), "");
  EXPECT_EQ(id, 1);
  ASSERT_EQ(message(fovea_module_find_token(module.get(), "nowhere", 7, &id)), "");
  EXPECT_EQ(id, -1);
  fovea_encoding row = FOVEA_ENCODING_INIT;
  expectIn(message(fovea_module_encode_texts(module.get(), texts, 3, 0, &row)), "one or two texts");
  texts[0] = {nullptr, 3};
  expectIn(message(fovea_module_encode_texts(module.get(), texts, 1, 0, &row)), "text 0 is NULL");
}

TEST_F(RuntimeTest, TwoModulesAreTwo) {
  // A second object must not be taken for the first by the loader.
  ModulePtr other = open(path);
  module.reset();
  ModulePtr third = open(path);
  fovea_module_info info = FOVEA_MODULE_INFO_INIT;
  EXPECT_EQ(message(fovea_module_get_info(third.get(), &info)), "");
}

TEST_F(RuntimeTest, AContextKeepsItsModule) {
  ContextPtr own = context();
  module.reset();
  CallPtr add = call(own, "add");
  std::vector<float> ones(3, 1);
  EXPECT_EQ(set(add, "a", ones, {1, 3}), "");
  EXPECT_EQ(set(add, "b", ones, {1, 3}), "");
  EXPECT_EQ(run(add), "");
  EXPECT_EQ(result<float>(add, "sum"), std::vector<float>(3, 2));
}

TEST_F(RuntimeTest, RefusesWhatItCannotRun) {
  std::string other = folder.file("other.fovea");
  fovea_module *opened = nullptr;
  auto open = [&] {
    fovea_status *status = fovea_module_open(other.c_str(), &opened);
    EXPECT_EQ(opened, nullptr);
    return message(status);
  };
  writeTestArtifact(other, [](manifest::ManifestT &m) { m.cpu_features = {"sse2", "warp-drive"}; });
  expectIn(open(), other + ": is compiled for a CPU with warp-drive, which this one lacks");
  writeTestArtifact(other, [](manifest::ManifestT &m) { m.entries[0]->name = "subtract"; });
  expectIn(open(), "does not export 'fovea_subtract_plan'");
  std::ofstream(other, std::ios::trunc) << "text";
  expectIn(open(), "is not a Fovea artifact");
  other = folder.file("none");
  expectIn(open(), "No such file");
}

/// The first of which this machine has all that it needs, before the code section.
TEST_F(RuntimeTest, RunsTheBestVariant) {
  std::string other = folder.file("other.fovea");
  writeTestArtifact(other, [](manifest::ManifestT &m) {
    m.cpu_features = {"warp-drive"};
    for (const char *name : {"none", "best", "second"}) {
      auto variant = std::make_unique<manifest::VariantT>();
      variant->name = name;
      variant->cpu_features = {"sse2"};
      if (variant->name == "none")
        variant->cpu_features.emplace_back("warp-drive");
      for (const auto &kernel : m.kernels) {
        variant->kernels.push_back(std::make_unique<manifest::KernelT>(*kernel));
        variant->kernels.back()->description = name;
      }
      for (const auto &entry : m.entries) {
        auto program = std::make_unique<manifest::ProgramT>();
        program->locals = entry->locals;
        for (const auto &step : entry->steps)
          program->steps.push_back(std::make_unique<manifest::StepT>(*step));
        variant->programs.push_back(std::move(program));
      }
      m.variants.push_back(std::move(variant));
    }
  });
  Module module(other);
  EXPECT_EQ(module.manifest().target, "best");
  EXPECT_EQ(module.manifest().kernels[0]->description, "best");
}

TEST_F(RuntimeTest, RefusesCodeThatIsNoObject) {
  // As above, but the file is whole: only its code is none.
  std::string other = folder.file("other.fovea");
  std::string error;
  auto writer = artifact::ArtifactWriter::create(other, error);
  manifest::ManifestT contents;
  contents.model = std::make_unique<manifest::ModelInfoT>();
  contents.entries.push_back(std::make_unique<manifest::EntryT>());
  contents.entries[0]->name = "forward";
  contents.entries[0]->locals = 1;
  writer->setCode({'n', 'o', ' ', 'E', 'L', 'F'});
  ASSERT_TRUE(writer->finish(std::move(contents), error)) << error;
  fovea_module *opened = nullptr;
  fovea_status *status = fovea_module_open(other.c_str(), &opened);
  EXPECT_EQ(fovea_status_code(status), FOVEA_INVALID);
  expectIn(message(status), "its code cannot be loaded");
}

TEST(CpuFeatures, KnowsTheseAndNoOthers) {
#if defined(__x86_64__)
  EXPECT_TRUE(missingCpuFeatures({"sse2", "cmov", "64bit"}).empty());
  EXPECT_EQ(missingCpuFeatures({"sse2", "none"}), std::vector<std::string>{"none"});
  EXPECT_EQ(missingCpuFeatures({"avx2"}).empty(), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(missingCpuFeatures({"fma"}).empty(), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(missingCpuFeatures({"avx512f"}).empty(), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(missingCpuFeatures({"avx512bf16"}).empty(), __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_EQ(missingCpuFeatures({"avx512vnni"}).empty(), __builtin_cpu_supports("avx512vnni") != 0);
#endif
}

} // namespace
