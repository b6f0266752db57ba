// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's .npz files. The input's first byte chooses: a whole file, or one .npy array that is
// stored or deflated into a file with the right checksum, alone or behind another one.
#include "tools/verbs/Npz.h"
#include "test/fuzz/support/Fuzz.h"

#include <zlib.h>

using namespace fovea;

namespace {

/// Writes a zip file (PKWARE APPNOTE 6.3).
class Zip {
public:
  void add(const std::string &name, std::string_view content, bool deflated) {
    std::string packed = deflated ? deflate(content) : std::string(content);
    auto bytes = reinterpret_cast<const Bytef *>(content.data());
    auto crc = static_cast<uint32_t>(::crc32(0, bytes, static_cast<uInt>(content.size())));
    std::string fields;
    put16(fields, 20);
    put16(fields, 0);
    put16(fields, deflated ? 8 : 0);
    put32(fields, 0);
    put32(fields, crc);
    put32(fields, packed.size());
    put32(fields, content.size());
    put16(fields, name.size());
    put16(fields, 0);
    size_t offset = file.size();
    put32(file, 0x04034b50);
    file += fields + name + packed;
    put32(directory, 0x02014b50);
    put16(directory, 20);
    directory += fields;
    put16(directory, 0);
    put32(directory, 0);
    put32(directory, 0);
    put32(directory, offset);
    directory += name;
    ++count;
  }

  std::string finish() {
    size_t at = file.size();
    file += directory;
    put32(file, 0x06054b50);
    put32(file, 0);
    put16(file, count);
    put16(file, count);
    put32(file, directory.size());
    put32(file, at);
    put16(file, 0);
    return file;
  }

private:
  static void put16(std::string &out, uint64_t value) {
    out.append(reinterpret_cast<const char *>(&value), 2);
  }
  static void put32(std::string &out, uint64_t value) {
    out.append(reinterpret_cast<const char *>(&value), 4);
  }
  static std::string deflate(std::string_view content) {
    std::string out(::compressBound(content.size()) + 64, '\0');
    z_stream stream{};
    fuzz::require(::deflateInit2(&stream, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
                  "zlib can begin");
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef *>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    fuzz::require(::deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib can end");
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
  }

  std::string file, directory;
  size_t count = 0;
};

/// An array of one byte.
std::string smallArray() {
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }\n";
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size()) + '\0' + header + 'x';
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::Input input(data, size);
  auto mode = input.take<uint8_t>();
  std::string content(input.rest());
  if (mode % 3) {
    Zip zip;
    if (mode & 8)
      zip.add("x.npy", smallArray(), /*deflated=*/false);
    zip.add("y.npy", input.rest(), mode % 3 == 2);
    content = zip.finish();
  }
  static fuzz::MemoryFile file;
  file.set(content);
  std::vector<verbs::Array> arrays;
  std::string error;
  fuzz::require(verbs::readNpz(file.path(), arrays, error) || !error.empty(),
                "what is refused has an error");
  for (const verbs::Array &array : arrays)
    fuzz::touch(array.data.data(), array.data.size());
  return 0;
}
