// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reading half of Npz.h. Works on the file's bytes in memory; each offset and
// size is checked against them before it is used.
#include "tools/verbs/Files.h"
#include "tools/verbs/Npz.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <zlib.h>

namespace fovea::verbs {

namespace {

struct Bad {
  std::string message;
};

template <typename T> T get(const Bytes &bytes, uint64_t at) {
  T value;
  if (at > bytes.size() || sizeof(T) > bytes.size() - at)
    throw Bad{"is cut short or malformed: expects " + std::to_string(sizeof(T)) + " bytes at " +
              std::to_string(at) + ", got a size of " + std::to_string(bytes.size())};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

struct Member {
  std::string name;
  uint16_t method;
  uint32_t crc;
  uint64_t packed, size, offset;
};

/// Sizes and offset that did not fit 32 bits stand in extra field 1 (APPNOTE 4.5.3).
void readZip64(const Bytes &file, uint64_t at, uint64_t end, Member &member) {
  while (at + 4 <= end) {
    auto id = get<uint16_t>(file, at);
    uint64_t next = at + 4 + get<uint16_t>(file, at + 2);
    at += 4;
    if (id == 1)
      for (uint64_t *field : {&member.size, &member.packed, &member.offset})
        if (*field == UINT32_MAX) {
          *field = get<uint64_t>(file, at);
          at += 8;
        }
    at = next;
  }
}

/// The central directory (APPNOTE 4.3.12), found from the file's end.
std::vector<Member> readDirectory(const Bytes &file) {
  constexpr uint64_t endBytes = 22;
  uint64_t at = file.size() + 1;
  uint64_t lowest = file.size() > endBytes + 65535 ? file.size() - endBytes - 65535 : 0;
  if (file.size() >= endBytes)
    for (uint64_t i = file.size() - endBytes + 1; i-- > lowest;)
      if (get<uint32_t>(file, i) == 0x06054b50) {
        at = i;
        break;
      }
  if (at > file.size())
    throw Bad{"is not a .npz file: expects a zip directory at the end of its " +
              std::to_string(file.size()) + " bytes, got none"};
  auto count = get<uint16_t>(file, at + 10);
  uint64_t position = get<uint32_t>(file, at + 16);
  if (count == UINT16_MAX || position == UINT32_MAX)
    throw Bad{"expects fewer than 65535 members and 4 GiB, got more"};
  std::vector<Member> members;
  for (uint16_t i = 0; i < count; ++i) {
    if (get<uint32_t>(file, position) != 0x02014b50)
      throw Bad{"has a malformed zip directory: expects " + std::to_string(count) +
                " members, got no more than " + std::to_string(i) + " up to byte " +
                std::to_string(position)};
    Member member;
    auto flags = get<uint16_t>(file, position + 8);
    member.method = get<uint16_t>(file, position + 10);
    member.crc = get<uint32_t>(file, position + 16);
    member.packed = get<uint32_t>(file, position + 20);
    member.size = get<uint32_t>(file, position + 24);
    uint64_t nameBytes = get<uint16_t>(file, position + 28);
    uint64_t extraBytes = get<uint16_t>(file, position + 30);
    uint64_t commentBytes = get<uint16_t>(file, position + 32);
    member.offset = get<uint32_t>(file, position + 42);
    uint64_t nameAt = position + 46, extraAt = nameAt + nameBytes;
    if (extraAt + extraBytes > file.size())
      throw Bad{"has a zip directory that goes past its end: expects " +
                std::to_string(extraAt + extraBytes) + " bytes, got " +
                std::to_string(file.size())};
    member.name.assign(reinterpret_cast<const char *>(file.data()) + nameAt, nameBytes);
    readZip64(file, extraAt, extraAt + extraBytes, member);
    if (flags & 1)
      throw Bad{"member '" + member.name + "' is encrypted; expects one that is not"};
    members.push_back(std::move(member));
    position = extraAt + extraBytes + commentBytes;
  }
  return members;
}

Bad badMember(const Member &member, const std::string &what) {
  return {"member '" + member.name + "' " + what};
}

/// Where a member's packed bytes begin, behind its own header.
uint64_t findBytes(const Bytes &file, const Member &member) {
  if (member.offset > file.size())
    throw badMember(member, "goes past the file's end: expects its header at " +
                                std::to_string(member.offset) + ", got a size of " +
                                std::to_string(file.size()));
  if (get<uint32_t>(file, member.offset) != 0x04034b50)
    throw badMember(member, "has no header at byte " + std::to_string(member.offset) +
                                ", where the directory says");
  uint64_t at = member.offset + 30 + get<uint16_t>(file, member.offset + 26) +
                get<uint16_t>(file, member.offset + 28);
  if (at > file.size() || member.packed > file.size() - at)
    throw badMember(member, "goes past the file's end: expects " + std::to_string(member.packed) +
                                " bytes at " + std::to_string(at) + ", got a size of " +
                                std::to_string(file.size()));
  return at;
}

/// Unpacked, of all members together.
constexpr uint64_t kMostBytes = uint64_t(16) << 30;

/// Before any is unpacked: each has a name and bytes of its own. A file's bytes bound what they
/// unpack to only where no two members share them.
void checkMembers(const Bytes &file, const std::vector<Member> &members) {
  std::set<std::string> names;
  std::vector<const Member *> byOffset;
  uint64_t total = 0;
  for (const Member &member : members) {
    if (!names.insert(member.name).second)
      throw badMember(member, "is there twice; expects each name once");
    if (__builtin_add_overflow(total, member.size, &total) || total > kMostBytes)
      throw Bad{"unpacks to more than 16 GiB"};
    byOffset.push_back(&member);
  }
  std::sort(byOffset.begin(), byOffset.end(), [](const Member *a, const Member *b) {
    return a->offset != b->offset ? a->offset < b->offset : a < b; // as they stand in the directory
  });
  for (size_t i = 0; i + 1 < byOffset.size(); ++i)
    if (findBytes(file, *byOffset[i]) + byOffset[i]->packed > byOffset[i + 1]->offset)
      throw badMember(*byOffset[i + 1], "shares bytes with member '" + byOffset[i]->name + "'");
}

Bytes unpack(const Bytes &file, const Member &member) {
  auto bad = [&](const std::string &what) { return badMember(member, what); };
  uint64_t at = findBytes(file, member);
  // Who goes by the name here would read another array than who goes by the directory's.
  auto nameAt = file.begin() + static_cast<ptrdiff_t>(member.offset + 30);
  std::string name(nameAt, nameAt + get<uint16_t>(file, member.offset + 26));
  if (name != member.name)
    throw bad("expects this name in its own header too, got '" + name + "'");
  Bytes bytes;
  if (member.method == 0) {
    if (member.packed != member.size)
      throw bad("is stored, but its two sizes differ");
    bytes.assign(file.begin() + static_cast<ptrdiff_t>(at),
                 file.begin() + static_cast<ptrdiff_t>(at + member.packed));
  } else if (member.method == 8) {
    // Deflate makes at most 1032 bytes of one (RFC 1951: 258 bytes for 2 bits).
    if (member.size / 1032 > member.packed || member.size > UINT32_MAX ||
        member.packed > UINT32_MAX)
      throw bad("cannot unpack to " + std::to_string(member.size) + " bytes; expects at most " +
                std::to_string(member.packed * 1032) + " from its " +
                std::to_string(member.packed));
    bytes.resize(member.size);
    uint8_t none;
    z_stream stream{};
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      throw std::bad_alloc();
    stream.next_in = const_cast<uint8_t *>(file.data()) + at;
    stream.avail_in = static_cast<uInt>(member.packed);
    stream.next_out = bytes.empty() ? &none : bytes.data();
    stream.avail_out = static_cast<uInt>(bytes.size());
    int code = ::inflate(&stream, Z_FINISH);
    bool whole = code == Z_STREAM_END && stream.total_out == bytes.size();
    ::inflateEnd(&stream);
    if (!whole)
      throw bad("has damaged compressed data: expects " + std::to_string(member.packed) +
                " bytes that unpack to " + std::to_string(member.size) + ", got others");
  } else {
    throw bad("is compressed by method " + std::to_string(member.method) +
              "; expects stored or deflated");
  }
  uLong crc = ::crc32(0, nullptr, 0);
  for (size_t done = 0; done < bytes.size();) {
    size_t some = std::min<size_t>(bytes.size() - done, 1u << 30);
    crc = ::crc32(crc, bytes.data() + done, static_cast<uInt>(some));
    done += some;
  }
  if (crc != member.crc)
    throw bad("is damaged: expects checksum " + std::to_string(member.crc) + ", got " +
              std::to_string(crc));
  return bytes;
}

/// The header's Python dictionary, by the three keys that NumPy writes.
class HeaderText {
public:
  explicit HeaderText(std::string text) : text(std::move(text)) {}

  std::string stringOf(const char *key) const {
    size_t at = valueOf(key);
    char quote = at < text.size() ? text[at] : 0;
    size_t end = quote == '\'' || quote == '"' ? text.find(quote, at + 1) : std::string::npos;
    if (end == std::string::npos)
      throw Bad{std::string("expects a string for '") + key + "', got " + from(at)};
    return text.substr(at + 1, end - at - 1);
  }
  bool boolOf(const char *key) const {
    size_t at = valueOf(key);
    if (text.compare(at, 4, "True") == 0)
      return true;
    if (text.compare(at, 5, "False") == 0)
      return false;
    throw Bad{std::string("expects True or False for '") + key + "', got " + from(at)};
  }
  std::vector<int64_t> sizesOf(const char *key) const {
    size_t at = valueOf(key), begin = at;
    std::vector<int64_t> sizes;
    bool open = at < text.size() && text[at] == '(';
    for (++at; open && at < text.size() && text[at] != ')';) {
      if (text[at] == ' ' || text[at] == ',') {
        ++at;
        continue;
      }
      int64_t size = 0;
      size_t first = at;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        if (__builtin_mul_overflow(size, 10, &size) ||
            __builtin_add_overflow(size, text[at] - '0', &size))
          throw Bad{"has an impossible shape: expects sizes that fit 63 bits, got " + from(begin)};
      if (at == first || sizes.size() == 32)
        throw Bad{"has a malformed shape: expects at most 32 sizes from 0, got " + from(begin)};
      sizes.push_back(size);
    }
    if (!open || at >= text.size())
      throw Bad{"has a malformed shape: expects sizes in brackets, got " + from(begin)};
    return sizes;
  }

  std::string shapeText() const { return from(valueOf("shape")); }
  /// The text from there on, cut, for a message.
  std::string from(size_t at) const {
    std::string part = text.substr(at, 40);
    return "'" + part.substr(0, part.find_last_not_of(" \n") + 1) + "'";
  }

private:
  size_t valueOf(const std::string &key) const {
    size_t at = text.find("'" + key + "'");
    at = at == std::string::npos ? at : text.find(':', at);
    at = at == std::string::npos ? at : text.find_first_not_of(' ', at + 1);
    if (at == std::string::npos)
      throw Bad{"lacks '" + key + "' in its header " + from(0)};
    return at;
  }

  std::string text;
};

fovea_dtype dtypeOf(const std::string &descr) {
  struct Known {
    const char *text;
    fovea_dtype dtype;
  };
  static constexpr Known known[] = {
      {"f2", {FOVEA_FLOAT, 16, 1}}, {"f4", {FOVEA_FLOAT, 32, 1}}, {"f8", {FOVEA_FLOAT, 64, 1}},
      {"i1", {FOVEA_INT, 8, 1}},    {"i2", {FOVEA_INT, 16, 1}},   {"i4", {FOVEA_INT, 32, 1}},
      {"i8", {FOVEA_INT, 64, 1}},   {"u1", {FOVEA_UINT, 8, 1}},   {"u2", {FOVEA_UINT, 16, 1}},
      {"u4", {FOVEA_UINT, 32, 1}},  {"u8", {FOVEA_UINT, 64, 1}},  {"b1", {FOVEA_BOOL, 8, 1}}};
  if (descr.size() == 3 && (descr[0] == '<' || descr[0] == '|' || descr[0] == '='))
    for (const Known &each : known)
      if (descr.compare(1, 2, each.text) == 0)
        return each.dtype;
  throw Bad{"has element type '" + descr.substr(0, 16) +
            "'; expects little-endian numbers such as '<f4' or '<i8'"};
}

/// Column-major to row-major.
Bytes transposed(const Array &array, size_t element) {
  Bytes out(array.data.size());
  std::vector<int64_t> index(array.shape.size());
  for (size_t at = 0; at < out.size(); at += element) {
    uint64_t from = 0;
    for (size_t d = index.size(); d-- > 0;)
      from = from * static_cast<uint64_t>(array.shape[d]) + static_cast<uint64_t>(index[d]);
    std::memcpy(out.data() + at, array.data.data() + from * element, element);
    for (size_t d = index.size(); d-- > 0;) {
      ++index[d];
      if (index[d] != array.shape[d])
        break;
      index[d] = 0;
    }
  }
  return out;
}

Array parseNpy(const Bytes &bytes) {
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0)
    throw Bad{"is no .npy array"};
  if (bytes[6] < 1 || bytes[6] > 3)
    throw Bad{"expects .npy version 1, 2 or 3, got " + std::to_string(bytes[6])};
  uint64_t start = bytes[6] == 1 ? 10 : 12;
  uint64_t length = bytes[6] == 1 ? get<uint16_t>(bytes, 8) : get<uint32_t>(bytes, 8);
  if (start > bytes.size() || length > bytes.size() - start)
    throw Bad{"has a header that goes past its end: expects " + std::to_string(length) +
              " bytes, got " +
              std::to_string(bytes.size() - std::min(start, uint64_t(bytes.size())))};
  HeaderText header(std::string(reinterpret_cast<const char *>(bytes.data()) + start, length));
  Array array;
  array.dtype = dtypeOf(header.stringOf("descr"));
  array.shape = header.sizesOf("shape");
  uint64_t expected = array.dtype.bits / 8u;
  for (int64_t size : array.shape)
    if (__builtin_mul_overflow(expected, static_cast<uint64_t>(size), &expected))
      throw Bad{"has an impossible shape: expects bytes that can be counted, got " +
                header.shapeText()};
  uint64_t found = bytes.size() - start - length;
  if (found != expected)
    throw Bad{"expects " + std::to_string(expected) + " bytes for its shape, got " +
              std::to_string(found)};
  array.data.assign(bytes.begin() + static_cast<ptrdiff_t>(start + length), bytes.end());
  if (header.boolOf("fortran_order") && !array.data.empty())
    array.data = transposed(array, array.dtype.bits / 8u);
  return array;
}

} // namespace

bool readNpz(const std::string &path, std::vector<Array> &arrays, std::string &error) {
  std::string bytes;
  if (!(path == "-" ? readFile(path, bytes, error) : readRegularFile(path, bytes, error)))
    return false;
  const Bytes file(bytes.begin(), bytes.end());
  std::vector<Array> read;
  try {
    const std::vector<Member> members = readDirectory(file);
    checkMembers(file, members);
    for (const Member &member : members) {
      Bytes bytes = unpack(file, member);
      try {
        Array array = parseNpy(bytes);
        array.name = member.name;
        if (array.name.size() > 4 && array.name.compare(array.name.size() - 4, 4, ".npy") == 0)
          array.name.resize(array.name.size() - 4);
        for (const Array &other : read)
          if (other.name == array.name) // one with and one without ".npy"
            throw Bad{"is there twice"};
        read.push_back(std::move(array));
      } catch (const Bad &bad) {
        throw Bad{"member '" + member.name + "' " + bad.message};
      }
    }
  } catch (const Bad &bad) {
    error = path + ": " + bad.message;
    return false;
  }
  arrays = std::move(read);
  return true;
}

bool readNpy(const std::string &path, Array &array, std::string &error) {
  std::string bytes;
  if (!(path == "-" ? readFile(path, bytes, error) : readRegularFile(path, bytes, error)))
    return false;
  try {
    array = parseNpy(Bytes(bytes.begin(), bytes.end()));
  } catch (const Bad &bad) {
    error = path + ": " + bad.message;
    return false;
  }
  return true;
}

} // namespace fovea::verbs
