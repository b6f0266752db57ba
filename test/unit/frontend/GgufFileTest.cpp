// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GGUF files: tensors and values come as they were written. What is refused, test/hostile has.
#include "frontend/GGUF/GGUF.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

using namespace fovea;

namespace {

template <typename T> std::string bytes(T value) {
  return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

std::string text(const std::string &content) { return bytes(uint64_t(content.size())) + content; }

std::string tensor(const std::string &name, const std::vector<uint64_t> &sizes, uint32_t type,
                   uint64_t offset) {
  std::string result = text(name) + bytes(uint32_t(sizes.size()));
  for (uint64_t size : sizes)
    result += bytes(size);
  return result + bytes(type) + bytes(offset);
}

std::optional<GgufFile> open(const std::string &content, Problems &problems) {
  std::string folder = ::testing::TempDir();
  std::ofstream(folder + "/test.gguf", std::ios::binary) << content;
  return GgufFile::open(folder, "test.gguf", problems);
}

TEST(GgufFile, TensorsAndValues) {
  std::string content = "GGUF" + bytes(uint32_t(2)) + bytes(uint64_t(2)) + bytes(uint64_t(3));
  content += text("a.name") + bytes(uint32_t(8)) + text("x");
  content += text("a.list") + bytes(uint32_t(9)) + bytes(uint32_t(5)) + bytes(uint64_t(2)) +
             bytes(int32_t(-1)) + bytes(int32_t(7));
  content += text("ab.half") + bytes(uint32_t(6)) + bytes(0.5f);
  content += tensor("floats", {3, 2}, 0, 0) + tensor("blocks", {64, 2}, 2, 32);
  content.resize((content.size() + 31) / 32 * 32);
  size_t begin = content.size();
  content += std::string(32, 'f') + std::string(72, 'b');

  Problems problems;
  std::optional<GgufFile> file = open(content, problems);
  ASSERT_TRUE(file) << problems.front().text();
  const StoredTensor *floats = file->find("floats"), *blocks = file->find("blocks");
  ASSERT_TRUE(floats && blocks);
  EXPECT_EQ(floats->shape, (std::vector<int64_t>{2, 3})) << "outermost first";
  EXPECT_EQ(floats->offset, begin);
  EXPECT_EQ(blocks->type, ElementType::Q4_0);
  EXPECT_EQ(blocks->bytes, 72u);
  EXPECT_EQ(*file->data(*blocks), 'b');
  EXPECT_EQ(file->find("none"), nullptr);

  JsonValue section = file->section("a");
  ASSERT_EQ(section.keys().size(), 2u) << "ab.half is of another one";
  EXPECT_EQ(section.find("name")->string(), "x");
  EXPECT_EQ(section.find("list")->elements()[0].integer(), -1);
  EXPECT_EQ(file->section("ab").find("half")->number(), 0.5);
}

TEST(GgufFile, BlocksAreNoTypesOfSafetensors) {
  EXPECT_FALSE(parseElementType("Q4_K"));
  EXPECT_TRUE(isBlockType(ElementType::Q4_K));
  EXPECT_STREQ(nameOf(ElementType::MXFP4), "MXFP4");
  EXPECT_EQ(countBytes(ElementType::Q6_K, {2, 512}), 2u * 2 * 210);
  EXPECT_EQ(countBytes(ElementType::Q6_K, {2, 128}), std::nullopt);
  EXPECT_EQ(countBytes(ElementType::Q8_0, {}), std::nullopt);
  EXPECT_EQ(countBytes(ElementType::F16, {}), 2u);
  EXPECT_EQ(countBytes(ElementType::F32, {int64_t(1) << 31, int64_t(1) << 31}), std::nullopt);
}

TEST(GgufFile, EachPrefixIsRefusedOrRead) {
  std::string content = "GGUF" + bytes(uint32_t(3)) + bytes(uint64_t(1)) + bytes(uint64_t(1));
  content +=
      text("a.list") + bytes(uint32_t(9)) + bytes(uint32_t(8)) + bytes(uint64_t(1)) + text("x");
  content += tensor("t", {8}, 1, 0);
  content.resize((content.size() + 31) / 32 * 32);
  content += std::string(16, 'x');
  for (size_t size = 0; size <= content.size(); ++size) {
    Problems problems;
    std::optional<GgufFile> file = open(content.substr(0, size), problems);
    EXPECT_EQ(file.has_value(), size == content.size()) << size;
    EXPECT_EQ(hasErrors(problems), size != content.size()) << size;
  }
}

} // namespace
