// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The writing half of Npz.h: stored members, sizes below 4 GiB, no times, so the
// same arrays give the same bytes. bf16, which NumPy does not know, becomes f32.
#include "artifact/Temporary.h"
#include "tools/verbs/Npz.h"

#include <cerrno>
#include <cstring>
#include <zlib.h>

namespace fovea::verbs {

namespace {

template <typename T> void put(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

Array widened(const Array &array) {
  Array wide = array;
  wide.dtype = {FOVEA_FLOAT, 32, 1};
  wide.data.assign(array.data.size() * 2, 0);
  for (size_t i = 0; i + 1 < array.data.size(); i += 2)
    std::memcpy(wide.data.data() + 2 * i + 2, array.data.data() + i, 2);
  return wide;
}

std::string npyHeader(const Array &array) {
  const char *kind = array.dtype.code == FOVEA_FLOAT  ? "f"
                     : array.dtype.code == FOVEA_INT  ? "i"
                     : array.dtype.code == FOVEA_UINT ? "u"
                                                      : "b";
  std::string text = std::string("{'descr': '") + (array.dtype.bits == 8 ? "|" : "<") + kind +
                     std::to_string(array.dtype.bits / 8) + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : array.shape)
    text += std::to_string(size) + ", ";
  if (array.shape.size() > 1)
    text.resize(text.size() - 2);
  text += "), }";
  // Padded so that the data begins at a multiple of 64.
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  put(header, static_cast<uint16_t>(text.size()));
  return header + text;
}

struct Written {
  std::string name;
  uint32_t crc, size, offset;
};

/// What local header and directory have in common (APPNOTE 4.3.7, 4.3.12).
void putCommon(std::string &out, const Written &member) {
  put<uint16_t>(out, 20);     // version needed
  put<uint16_t>(out, 0x0800); // names are UTF-8
  put<uint16_t>(out, 0);      // stored
  put<uint16_t>(out, 0);      // time
  put<uint16_t>(out, 0x21);   // 1980-01-01
  put<uint32_t>(out, member.crc);
  put<uint32_t>(out, member.size);
  put<uint32_t>(out, member.size);
  put<uint16_t>(out, static_cast<uint16_t>(member.name.size()));
  put<uint16_t>(out, 0);
}

} // namespace

bool writeNpz(const std::string &path, const std::vector<Array> &arrays, std::string &error) {
  auto fail = [&] {
    error = path + ": cannot be written: " + std::strerror(errno);
    return false;
  };
  artifact::TemporaryFile file(path);
  if (!file.good())
    return fail();
  std::vector<Written> members;
  uint64_t offset = 0;
  for (const Array &given : arrays) {
    Array wide;
    bool widen = given.dtype.code == FOVEA_BFLOAT;
    if (widen)
      wide = widened(given);
    const Array &array = widen ? wide : given;
    std::string head = npyHeader(array);
    uint64_t size = head.size() + array.data.size();
    if (size + offset > UINT32_MAX - (1u << 20) || array.name.size() > 60000) {
      error = path + ": cannot be written: more than 4 GiB of results";
      return false;
    }
    uLong crc =
        ::crc32(0, reinterpret_cast<const Bytef *>(head.data()), static_cast<uInt>(head.size()));
    if (!array.data.empty()) // zlib takes NULL for a request to begin anew
      crc = ::crc32(crc, array.data.data(), static_cast<uInt>(array.data.size()));
    members.push_back({array.name + ".npy", static_cast<uint32_t>(crc), static_cast<uint32_t>(size),
                       static_cast<uint32_t>(offset)});
    std::string local;
    put<uint32_t>(local, 0x04034b50);
    putCommon(local, members.back());
    local += members.back().name;
    if (!file.write(local + head) || !file.write(array.data.data(), array.data.size()))
      return fail();
    offset += local.size() + size;
  }
  std::string directory;
  for (const Written &member : members) {
    put<uint32_t>(directory, 0x02014b50);
    put<uint16_t>(directory, 20);
    putCommon(directory, member);
    put<uint16_t>(directory, 0); // comment
    put<uint16_t>(directory, 0); // disk
    put<uint16_t>(directory, 0);
    put<uint32_t>(directory, 0);
    put<uint32_t>(directory, member.offset);
    directory += member.name;
  }
  std::string end;
  put<uint32_t>(end, 0x06054b50);
  put<uint32_t>(end, 0);
  put<uint16_t>(end, static_cast<uint16_t>(members.size()));
  put<uint16_t>(end, static_cast<uint16_t>(members.size()));
  put<uint32_t>(end, static_cast<uint32_t>(directory.size()));
  put<uint32_t>(end, static_cast<uint32_t>(offset));
  put<uint16_t>(end, 0);
  if (!file.write(directory + end) || !file.keep())
    return fail();
  return true;
}

} // namespace fovea::verbs
