// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are broken in one way each, named by their fault.
#include "frontend/HuggingFace/Safetensors.h"
#include "test/unit/frontend/ModelFiles.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace fovea;
using namespace fovea::test;

namespace {

/// Writes `content` as model.safetensors; the problems of opening it.
std::string openProblems(const std::string &content) {
  Folder folder;
  folder.write("model.safetensors", content);
  Problems problems;
  auto file = Safetensors::open(folder.path(), "model.safetensors", problems);
  EXPECT_EQ(file.has_value(), problems.empty()) << texts(problems);
  for (const Problem &problem : problems)
    EXPECT_EQ(problem.file.find(folder.path() + "/model.safetensors"), 0u) << problem.text();
  return texts(problems);
}

void expectFault(const std::string &content, const std::string &part) {
  std::string found = openProblems(content);
  EXPECT_NE(found.find(part), std::string::npos) << "expects: " << part << "\ngot: " << found;
}

/// A header of one tensor "a" and enough data for it.
std::string oneTensor(const std::string &dtype, const std::string &shape,
                      const std::string &offsets, size_t dataSize = 24) {
  return safetensors("{\"a\":{\"dtype\":" + dtype + ",\"shape\":" + shape +
                         ",\"data_offsets\":" + offsets + "}}",
                     std::string(dataSize, 'x'));
}

std::string entry(const std::string &name, int begin, int end) {
  return "\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(end - begin) +
         "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

TEST(Safetensors, ReadsTensors) {
  Folder folder;
  folder.write("f.safetensors",
               safetensors("{\"__metadata__\":{\"format\":\"pt\"},"
                           "\"b\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[4,16]},"
                           "\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
                           "\"none\":{\"dtype\":\"F64\",\"shape\":[0,5],\"data_offsets\":[16,16]}}"
                           "   ",
                           "abcdefghijklmnop"));
  Problems problems;
  auto file = Safetensors::open(folder.path(), "f.safetensors", problems);
  ASSERT_TRUE(file) << texts(problems);
  ASSERT_EQ(file->tensors().size(), 3u);
  const StoredTensor *b = file->find("b");
  ASSERT_TRUE(b);
  EXPECT_EQ(b->file, "f.safetensors");
  EXPECT_EQ(b->type, ElementType::BF16);
  EXPECT_EQ(b->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(b->bytes, 12u);
  EXPECT_EQ(std::memcmp(file->data(*b), "efghijklmnop", 12), 0);
  EXPECT_EQ(std::memcmp(file->data(*file->find("a")), "abcd", 4), 0);
  EXPECT_EQ(file->find("c"), nullptr);
}

TEST(Safetensors, EveryElementType) {
  for (const char *name : {"BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "F8_E4M3",
                           "F8_E5M2", "F16", "BF16", "F32", "F64"}) {
    auto type = parseElementType(name);
    ASSERT_TRUE(type);
    EXPECT_STREQ(nameOf(*type), name);
    unsigned size = bytesOfBlock(*type) * 3;
    EXPECT_EQ(openProblems(oneTensor("\"" + std::string(name) + "\"", "[3]",
                                     "[0," + std::to_string(size) + "]", size)),
              "");
  }
}

TEST(Safetensors, ShorterThanLength) {
  expectFault("", "at least 8 bytes, got 0");
  expectFault("1234567", "at least 8 bytes, got 7");
}

TEST(Safetensors, HeaderBeyondFile) {
  std::string content = oneTensor("\"F32\"", "[2,3]", "[0,24]");
  content[1] = 1; // + 256
  expectFault(content, "header: expects a header within the ");
  std::string huge(16, '\xFF');
  expectFault(huge, "got a length of 18446744073709551615");
}

TEST(Safetensors, CutShortAnywhere) {
  std::string whole = oneTensor("\"F32\"", "[2,3]", "[0,24]");
  EXPECT_EQ(openProblems(whole), "");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(openProblems(whole.substr(0, size)), "") << size;
}

TEST(Safetensors, HeaderNotJson) {
  expectFault(safetensors("{\"a\": nonsense}", ""), "header: expects JSON, at byte");
  expectFault(safetensors("{} {}", ""), "expects JSON, at byte");
  expectFault(safetensors("", ""), "begins with '{', got nothing");
}

TEST(Safetensors, HeaderNotAnObject) {
  expectFault(safetensors("[1, 2]", ""), "begins with '{', got \"[1, 2]\"");
  expectFault(safetensors(" {}", ""), "begins with '{'");
}

TEST(Safetensors, HeaderNestedWithoutEnd) {
  std::string nested;
  for (int i = 0; i < 200000; ++i)
    nested += "{\"a\":";
  expectFault(safetensors(nested, ""), "nested at most 8 deep");
}

TEST(Safetensors, UnknownElementType) {
  expectFault(oneTensor("\"F31\"", "[6]", "[0,24]"),
              "tensor \"a\": expects a known element type (F32, F16, BF16, ...), got \"F31\"");
  expectFault(oneTensor("32", "[6]", "[0,24]"), "tensor \"a\".dtype: expects a string, got 32");
}

TEST(Safetensors, EntryIncomplete) {
  expectFault(safetensors("{\"a\":{\"shape\":[],\"data_offsets\":[0,0]}}", ""),
              "dtype: is required");
  expectFault(safetensors("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,0]}}", ""),
              "shape: is required");
  expectFault(safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}", ""),
              "data_offsets: is required");
  expectFault(safetensors("{\"a\":[]}", ""), "tensor \"a\": expects an object, got an array of 0");
}

TEST(Safetensors, ShapeOverflows) {
  expectFault(oneTensor("\"F32\"", "[4611686018427387905]", "[0,4]", 4), "fits 64 bits");
  expectFault(oneTensor("\"U8\"", "[4294967296,4294967296]", "[0,0]", 0), "fits 64 bits");
  expectFault(oneTensor("\"F32\"", "[1099511627776,1099511627776,1099511627776]", "[0,24]"),
              "fits 64 bits");
}

TEST(Safetensors, ShapeNonsense) {
  expectFault(oneTensor("\"F32\"", "[-1,-6]", "[0,24]"), "integers from 0, got -1");
  expectFault(oneTensor("\"F32\"", "[2.5]", "[0,24]"), "integers from 0, got 2.5");
  expectFault(oneTensor("\"F32\"", "[18446744073709551615]", "[0,24]"), "integers from 0, got 1.8");
  expectFault(oneTensor("\"F32\"", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6]", "[0,24]"),
              "at most 16 sizes, got 17");
}

TEST(Safetensors, BytesNotThoseOfTheShape) {
  expectFault(oneTensor("\"F32\"", "[2,4]", "[0,24]"),
              "tensor \"a\": expects 32 bytes for the shape [2, 4] of F32, got 24");
  expectFault(oneTensor("\"F16\"", "[2,3]", "[0,24]"), "expects 12 bytes");
}

TEST(Safetensors, OffsetsOutOfRange) {
  expectFault(oneTensor("\"F32\"", "[2,3]", "[0,25]"),
              "within the 24 bytes that the file has, got bytes 0 to 25");
  expectFault(oneTensor("\"F32\"", "[2,3]", "[24,48]"), "got bytes 24 to 48");
  expectFault(oneTensor("\"F32\"", "[2,3]", "[24,0]"), "end after it begins, got bytes 24 to 0");
  expectFault(oneTensor("\"F32\"", "[2,3]", "[-24,0]"), "two integers from 0, got -24 and 0");
  expectFault(oneTensor("\"F32\"", "[2,3]", "[9223372036854775783,9223372036854775807]"),
              "got bytes 9223372036854775783");
  expectFault(oneTensor("\"F32\"", "[2,3]", "[18446744073709551592,18446744073709551616]"),
              "two integers from 0");
  expectFault(oneTensor("\"F32\"", "[2,3]", "[0,24,24]"), "two integers from 0");
}

TEST(Safetensors, OverlappingTensors) {
  expectFault(safetensors("{" + entry("a", 0, 6) + "," + entry("b", 4, 10) + "}", "0123456789"),
              "tensor \"b\": expects data of its own, got bytes 4 to 10, which overlap tensor "
              "\"a\" up to byte 6");
  expectFault(safetensors("{" + entry("a", 0, 10) + "," + entry("b", 0, 10) + "}", "0123456789"),
              "overlap tensor \"a\"");
  // Inside another, with one behind both.
  expectFault(
      safetensors("{" + entry("a", 0, 8) + "," + entry("b", 2, 4) + "," + entry("c", 8, 10) + "}",
                  "0123456789"),
      "tensor \"b\": expects data of its own");
}

TEST(Safetensors, HoleBetweenTensors) {
  expectFault(safetensors("{" + entry("a", 0, 4) + "," + entry("b", 6, 10) + "}", "0123456789"),
              "tensor \"b\": expects data from byte 4, where the tensor before ends, got byte 6");
  expectFault(safetensors("{" + entry("a", 2, 10) + "}", "0123456789"), "a hole");
}

TEST(Safetensors, TrailingBytes) {
  expectFault(safetensors("{" + entry("a", 0, 4) + "}", "0123456789"),
              "expects 4 bytes of data, got 10: bytes that belong to no tensor");
}

TEST(Safetensors, DuplicateName) {
  expectFault(safetensors("{" + entry("a", 0, 5) + "," + entry("a", 5, 10) + "}", "0123456789"),
              "the key \"a\" is given twice");
}

TEST(Safetensors, HostileNamesAndManyFaults) {
  std::string header;
  for (int i = 0; i < 5000; ++i)
    header += (i ? ",\"" : "{\"") + std::string("\\u001b[2J") + std::to_string(i) +
              "\":{\"dtype\":\"?\",\"shape\":[],\"data_offsets\":[0,0]}";
  std::string found = openProblems(safetensors(header + "}", ""));
  EXPECT_EQ(found.find('\x1b'), std::string::npos);
  EXPECT_LT(found.size(), 20000u);
}

TEST(Safetensors, AnyByteOfTheHeaderChanged) {
  std::string whole =
      safetensors("{" + entry("a", 0, 6) + "," + entry("b", 6, 10) + "}", "0123456789");
  for (size_t i = 0; i < whole.size() - 10; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 1 << bit);
      openProblems(changed); // accepted or refused with a problem, by its own checks
    }
}

TEST(Safetensors, NoRegularFile) {
  Problems problems;
  EXPECT_FALSE(Safetensors::open("/nowhere", "model.safetensors", problems));
  EXPECT_FALSE(Safetensors::open("/", "dev", problems));
  EXPECT_FALSE(Safetensors::open("/dev", "zero", problems));
  EXPECT_EQ(problems.size(), 3u);
}

//===-- Shards -------------------------------------------------------------------------------===//

/// Two shards, a: {x}, b: {y, z}, and an index with `map`.
std::string shardProblems(const std::string &map, const char *missing = nullptr) {
  Folder folder;
  folder.write("a.safetensors", safetensors(Shapes{{"x", {2}}}));
  folder.write("b.safetensors", safetensors(Shapes{{"y", {3}}, {"z", {1}}}));
  folder.write("model.safetensors.index.json",
               "{\"metadata\":{\"total_size\":24},\"weight_map\":" + map + "}");
  if (missing)
    folder.remove(missing);
  Problems problems;
  auto checkpoint = Checkpoint::open(folder.path(), "", problems);
  EXPECT_EQ(checkpoint.has_value(), problems.empty());
  if (checkpoint) {
    const StoredTensor *y = checkpoint->find("y");
    EXPECT_TRUE(y && y->file == "b.safetensors" && checkpoint->data(*y));
    EXPECT_EQ(checkpoint->find("w"), nullptr);
  }
  return texts(problems);
}

const char *goodMap = R"({"x": "a.safetensors", "y": "b.safetensors", "z": "b.safetensors"})";

TEST(Checkpoint, Sharded) { EXPECT_EQ(shardProblems(goodMap), ""); }

TEST(Checkpoint, MissingShard) {
  std::string found = shardProblems(goodMap, "b.safetensors");
  EXPECT_NE(found.find("/b.safetensors: is missing: a shard that holds 2 tensors"),
            std::string::npos)
      << found;
}

TEST(Checkpoint, TensorNotInItsShard) {
  std::string found =
      shardProblems(R"({"x": "a.safetensors", "y": "a.safetensors", "z": "b.safetensors"})");
  EXPECT_NE(found.find("/a.safetensors: tensor \"y\": is missing in the shard"), std::string::npos)
      << found;
}

TEST(Checkpoint, ShardOutsideTheFolder) {
  for (const char *path : {"../a.safetensors", "/etc/passwd", "sub/../../a", "", ".", "a//b",
                           "./a.safetensors", "a\\u0000b", "sub/"}) {
    std::string found = shardProblems("{\"x\": \"" + std::string(path) + "\"}");
    EXPECT_NE(found.find("weight_map.x: expects the name of a file below the model's folder"),
              std::string::npos)
        << path << ": " << found;
  }
}

TEST(Checkpoint, IndexNonsense) {
  for (const char *map : {"3", "[]", "{}", "{\"x\": 3}", "{\"x\": null}"})
    EXPECT_NE(shardProblems(map).find("weight_map"), std::string::npos) << shardProblems(map);
  EXPECT_NE(shardProblems("{\"x\": \"a\", \"x\": \"b\"}").find("given twice"), std::string::npos);
}

TEST(Checkpoint, TensorInTwoShards) {
  Folder folder;
  folder.write("a.safetensors", safetensors(Shapes{{"x", {2}}}));
  folder.write("b.safetensors", safetensors(Shapes{{"x", {2}}, {"y", {1}}}));
  folder.write("model.safetensors.index.json",
               R"({"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}})");
  Problems problems;
  EXPECT_FALSE(Checkpoint::open(folder.path(), "", problems));
  EXPECT_NE(texts(problems).find("/b.safetensors: tensor \"x\": is in another shard too"),
            std::string::npos);
}

TEST(Checkpoint, NoWeights) {
  Folder folder;
  Problems problems;
  EXPECT_FALSE(Checkpoint::open(folder.path(), "", problems));
  folder.write("pytorch_model.bin", "x");
  EXPECT_FALSE(Checkpoint::open(folder.path(), "", problems));
  EXPECT_NE(texts(problems).find("got neither"), std::string::npos);
  EXPECT_NE(texts(problems).find("got only pytorch_model.bin"), std::string::npos);
}

} // namespace
