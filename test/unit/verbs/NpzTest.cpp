// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .npz files: what is written is read back, and no damaged file passes or crashes.
#include "tools/verbs/Npz.h"
#include "test/unit/support/TestArtifact.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <zlib.h>

using namespace fovea;
using namespace fovea::test;
using namespace fovea::verbs;

namespace {

Array floats(const std::string &name, std::vector<int64_t> shape, const std::vector<float> &data) {
  Array array;
  array.name = name;
  array.dtype = {FOVEA_FLOAT, 32, 1};
  array.shape = std::move(shape);
  const auto *bytes = reinterpret_cast<const uint8_t *>(data.data());
  array.data.assign(bytes, bytes + data.size() * 4);
  return array;
}

std::string readAll(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void writeAll(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

template <typename T> void put(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

/// A zip file of one member, deflated or stored, with the sizes it claims.
std::string zip(const std::string &name, const std::string &content, bool deflate,
                uint32_t claimed = UINT32_MAX, bool encrypted = false) {
  std::string packed = content;
  if (deflate) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    packed.resize(content.size() + 1000);
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef *>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    ::deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
  }
  if (claimed == UINT32_MAX)
    claimed = static_cast<uint32_t>(content.size());
  auto crc = static_cast<uint32_t>(::crc32(0, reinterpret_cast<const Bytef *>(content.data()),
                                           static_cast<uInt>(content.size())));
  auto common = [&](std::string &out) {
    put<uint16_t>(out, 20);
    put<uint16_t>(out, encrypted ? 1 : 0);
    put<uint16_t>(out, deflate ? 8 : 0);
    put<uint32_t>(out, 0);
    put<uint32_t>(out, crc);
    put<uint32_t>(out, static_cast<uint32_t>(packed.size()));
    put<uint32_t>(out, claimed);
    put<uint16_t>(out, static_cast<uint16_t>(name.size()));
    put<uint16_t>(out, 0);
  };
  std::string file, directory;
  put<uint32_t>(file, 0x04034b50);
  common(file);
  file += name + packed;
  put<uint32_t>(directory, 0x02014b50);
  put<uint16_t>(directory, 20);
  common(directory);
  directory.append(14, '\0');
  directory += name;
  auto offset = static_cast<uint32_t>(file.size());
  file += directory;
  put<uint32_t>(file, 0x06054b50);
  put<uint32_t>(file, 0);
  put<uint16_t>(file, 1);
  put<uint16_t>(file, 1);
  put<uint32_t>(file, static_cast<uint32_t>(directory.size()));
  put<uint32_t>(file, offset);
  put<uint16_t>(file, 0);
  return file;
}

std::string npy(const std::string &header, const std::string &data) {
  std::string out("\x93NUMPY\x01\x00", 8);
  put<uint16_t>(out, static_cast<uint16_t>(header.size()));
  return out + header + data;
}

class NpzTest : public ::testing::Test {
protected:
  NpzTest() : path(folder.file("a.npz")) {}
  std::string refuse(const std::string &bytes) {
    writeAll(path, bytes);
    std::vector<Array> arrays;
    std::string error;
    EXPECT_FALSE(readNpz(path, arrays, error));
    EXPECT_EQ(error.rfind(path + ": ", 0), 0u) << error;
    EXPECT_TRUE(arrays.empty());
    return error;
  }
  void refuse(const std::string &bytes, const std::string &part) {
    std::string error = refuse(bytes);
    EXPECT_NE(error.find(part), std::string::npos) << error;
  }
  TemporaryFolder folder;
  std::string path;
};

TEST_F(NpzTest, ReadsBackWhatWasWritten) {
  std::vector<Array> arrays = {floats("x", {2, 3}, {1, 2, 3, 4, 5, 6}), floats("scalar", {}, {7}),
                               floats("empty", {0, 4}, {}), floats("row", {2}, {8, 9})};
  Array brain = floats("brain", {2}, {});
  brain.dtype = {FOVEA_BFLOAT, 16, 1};
  brain.data = {0x80, 0x3f, 0x00, 0xc0}; // 1 and -2
  arrays.push_back(brain);
  std::string error;
  ASSERT_TRUE(writeNpz(path, arrays, error)) << error;
  std::vector<Array> read;
  ASSERT_TRUE(readNpz(path, read, error)) << error;
  ASSERT_EQ(read.size(), arrays.size());
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(read[i].name, arrays[i].name);
    EXPECT_EQ(read[i].shape, arrays[i].shape);
    EXPECT_EQ(read[i].data, arrays[i].data);
  }
  EXPECT_EQ(read[4].data, floats("", {}, {1, -2}).data);
}

TEST_F(NpzTest, ReadsDeflatedAndColumnMajor) {
  std::string data;
  for (int32_t i = 0; i < 6; ++i)
    put<int32_t>(data, i);
  std::string content = npy("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n", data);
  writeAll(path, zip("m.npy", content, /*deflate=*/true));
  std::vector<Array> arrays;
  std::string error;
  ASSERT_TRUE(readNpz(path, arrays, error)) << error;
  ASSERT_EQ(arrays[0].name, "m");
  int32_t values[6];
  ASSERT_EQ(arrays[0].data.size(), sizeof(values));
  std::memcpy(values, arrays[0].data.data(), sizeof(values));
  EXPECT_EQ(std::vector<int32_t>(values, values + 6), (std::vector<int32_t>{0, 2, 4, 1, 3, 5}));
}

TEST_F(NpzTest, DamagedFilesAreRefused) {
  std::string data(8, '\0');
  auto one = [&](const std::string &header, bool deflate = false) {
    return zip("m.npy", npy(header, data), deflate);
  };
  refuse("", "not a .npz file");
  refuse("PK\x03\x04 and then nothing", "not a .npz file");
  refuse(one("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"), "expects 12 bytes");
  refuse(one("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }"),
         "impossible shape");
  refuse(one("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"),
         "impossible shape");
  refuse(one("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }"), "element type '>f4'");
  refuse(one("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }"), "element type '|O'");
  refuse(one("{'fortran_order': False, 'shape': (2,), }"), "lacks 'descr'");
  refuse(one("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }"), "True or False");
  refuse(one("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }"), "malformed shape");
  refuse(one("{'descr': '<f4', 'fortran_order': False, 'shape': (2,"), "malformed shape");
  refuse(zip("m.npy", "no array", false), "is no .npy array");
  refuse(zip("m.npy", npy("", data).substr(0, 9), false), "is no .npy array");
  refuse(zip("m.npy", npy(std::string(100, ' '), data).substr(0, 50), false), "goes past its end");
  refuse(zip("m.npy", std::string(1000, 'x'), true, 0x7fffffff), "cannot unpack");
  refuse(zip("m.npy", std::string(1000, 'x'), true, 999), "damaged compressed data");
  refuse(zip("m.npy", std::string(1000, 'x'), false, 999), "two sizes differ");
  refuse(zip("m.npy", npy("{}", data), false, UINT32_MAX, true), "encrypted");
  std::string other = one("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }");
  other[other.find("m.npy")] = 'n';
  refuse(other, "expects this name in its own header too, got 'n.npy'");
}

TEST_F(NpzTest, NoChangedByteCrashesAndDataIsNeverWrong) {
  std::string error;
  std::vector<Array> arrays = {floats("x", {2, 2}, {1, 2, 3, 4})}, read;
  ASSERT_TRUE(writeNpz(path, arrays, error));
  std::string bytes = readAll(path);
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      writeAll(path, changed);
      read.clear();
      // Times, versions and the name are under no checksum; the array is.
      if (readNpz(path, read, error) && !read.empty()) {
        EXPECT_EQ(read[0].data, arrays[0].data) << i;
        EXPECT_EQ(read[0].shape, arrays[0].shape) << i;
      }
    }
  for (size_t size = 0; size < bytes.size(); ++size)
    refuse(bytes.substr(0, size));
}

TEST_F(NpzTest, UnwritablePlacesAreNamed) {
  std::string error;
  EXPECT_FALSE(writeNpz(folder.file("none/x.npz"), {}, error));
  EXPECT_NE(error.find("none/x.npz: cannot be written: No such file"), std::string::npos) << error;
  EXPECT_FALSE(writeNpz(folder.path.string(), {}, error));
  std::vector<Array> arrays;
  EXPECT_FALSE(readNpz(folder.file("none"), arrays, error));
  EXPECT_NE(error.find("No such file"), std::string::npos) << error;
  EXPECT_FALSE(readNpz(folder.path.string(), arrays, error));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
}

} // namespace
