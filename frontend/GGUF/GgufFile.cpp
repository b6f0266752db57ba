// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See GgufFile.h. Every number of the file is checked before it is used.
#include "frontend/GGUF/GgufFile.h"

#include "frontend/ForeignFile.h"
#include "frontend/GGUF/TensorTypes.h"
#include "frontend/GGUF/Values.h"
#include "frontend/Text.h"

#include <algorithm>

using namespace fovea;

static constexpr uint32_t maxRank = 4;
static constexpr uint64_t maxTensorName = 64, maxKey = 65535;
static constexpr uint64_t maxAlignment = uint64_t(1) << 20;
/// The least bytes of a key (an empty text, a type, a byte) and of a tensor without sizes.
static constexpr uint64_t leastKey = 8 + 4 + 1, leastTensor = 8 + 4 + 4 + 8;

namespace fovea {

/// Fills a file that is open; the first fault ends it, as what follows has no known place.
class GgufReader {
public:
  GgufReader(GgufFile &file, const std::string &name, Problems &problems)
      : file(file), name(name), problems(problems),
        cursor{file.view->data(), file.view->data() + file.view->size(), 0} {}

  bool run() {
    return readHeader() && readKeys() && readAlignment() && readTensors() && placeTensors();
  }

private:
  bool fail(const std::string &place, const std::string &message) {
    addError(problems, file.path, place, message);
    return false;
  }

  bool readHeader() {
    std::string_view begin(reinterpret_cast<const char *>(cursor.at),
                           std::min<uint64_t>(cursor.left(), 1024));
    if (begin.substr(0, 4) != "GGUF") {
      std::string other = describeForeign(begin);
      return fail("", "expects a GGUF file, which begins with \"GGUF\", got " +
                          (other.empty() ? quote(begin.substr(0, 4)) : other));
    }
    cursor.skip(4);
    std::optional<uint32_t> version = cursor.take<uint32_t>();
    std::optional<uint64_t> tensors = cursor.take<uint64_t>(), keys = cursor.take<uint64_t>();
    if (!version || (*version >= 2 && *version <= 3 && !keys))
      return fail("header", "expects at least 24 bytes, got " + std::to_string(begin.size()));
    if (*version != 0 && (*version & 0xFFFF) == 0)
      return fail("header", "expects a file in little endian, got one in big endian");
    if (*version < 2 || *version > 3)
      return fail("header", "expects version 2 or 3, got " + std::to_string(*version));
    tensorCount = *tensors;
    keyCount = *keys;
    return checkCount("keys", keyCount, leastKey) &&
           checkCount("tensors", tensorCount, leastTensor);
  }

  /// That so many could be in the rest of the file.
  bool checkCount(const char *what, uint64_t count, uint64_t least) {
    if (count <= cursor.left() / least)
      return true;
    return fail("header", "expects at most " + std::to_string(cursor.left() / least) + " " + what +
                              " in the " + std::to_string(cursor.left()) +
                              " bytes that follow, got " + std::to_string(count));
  }

  /// A name; empty after a message.
  std::string_view readName(const std::string &place, uint64_t most) {
    std::optional<uint64_t> size = cursor.take<uint64_t>();
    if (!size) {
      fail(place, "expects a name, got the end of the file");
      return {};
    }
    if (*size == 0 || *size > most || *size > cursor.left()) {
      fail(place, "expects a name of 1 to " + std::to_string(std::min(most, cursor.left())) +
                      " bytes, got " + std::to_string(*size));
      return {};
    }
    std::string_view result(reinterpret_cast<const char *>(cursor.at), *size);
    cursor.skip(*size);
    return result;
  }

  bool readKeys() {
    for (uint64_t i = 0; i < keyCount; ++i) {
      GgufKey key;
      key.name = readName("key " + std::to_string(i), maxKey);
      if (key.name.empty())
        return false;
      std::string place = "key " + quote(key.name);
      std::optional<uint32_t> type = cursor.take<uint32_t>();
      if (!type)
        return fail(place, "expects the type of its value, got the end of the file");
      key.type = static_cast<GgufType>(*type);
      key.value = cursor.at;
      if (std::string fault = skipGgufValue(cursor, key.type); !fault.empty())
        return fail(place, fault);
      file.keys.push_back(key);
    }
    auto byName = [](const GgufKey &a, const GgufKey &b) { return a.name < b.name; };
    std::sort(file.keys.begin(), file.keys.end(), byName);
    auto twice = std::adjacent_find(file.keys.begin(), file.keys.end(),
                                    [](auto &a, auto &b) { return a.name == b.name; });
    return twice == file.keys.end() ||
           fail("key " + quote(twice->name), "expects each key once, got it twice");
  }

  bool readAlignment() {
    JsonValue general = file.section("general");
    const JsonValue *found = general.find("alignment");
    if (!found)
      return true;
    auto value = static_cast<uint64_t>(found->integer());
    if (value == 0 || value > maxAlignment || (value & (value - 1)) != 0)
      return fail("general.alignment", "expects a power of two from 1 to " +
                                           std::to_string(maxAlignment) + ", got " +
                                           found->describe());
    alignment = value;
    return true;
  }

  bool readTensors() {
    for (uint64_t i = 0; i < tensorCount; ++i) {
      std::string place = "tensor " + std::to_string(i);
      std::string_view found = readName(place, maxTensorName);
      if (found.empty())
        return false;
      StoredTensor tensor;
      tensor.name = found;
      tensor.file = name;
      if (!readShape(tensor) || !readPlace(tensor))
        return false;
      file.content.push_back(std::move(tensor));
    }
    return true;
  }

  bool readShape(StoredTensor &tensor) {
    std::string place = "tensor " + quote(tensor.name);
    std::optional<uint32_t> rank = cursor.take<uint32_t>();
    if (!rank || *rank == 0 || *rank > maxRank)
      return fail(place, "expects from 1 to " + std::to_string(maxRank) + " sizes, got " +
                             (rank ? std::to_string(*rank) : "the end of the file"));
    for (uint32_t i = 0; i < *rank; ++i) {
      std::optional<uint64_t> size = cursor.take<uint64_t>();
      if (!size || *size == 0 || *size > static_cast<uint64_t>(INT64_MAX))
        return fail(place, "expects sizes from 1 to 9223372036854775807, got " +
                               (size ? std::to_string(*size) : "the end of the file"));
      tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(*size));
    }
    return true;
  }

  /// Type and offset, still from the beginning of the data.
  bool readPlace(StoredTensor &tensor) {
    std::string place = "tensor " + quote(tensor.name);
    std::optional<uint32_t> number = cursor.take<uint32_t>();
    std::optional<uint64_t> offset = cursor.take<uint64_t>();
    if (!number || !offset)
      return fail(place, "expects a type and an offset, got the end of the file");
    std::optional<ElementType> type = ggufElementType(*number);
    if (!type)
      return fail(place,
                  "expects a type among " + listGgufTypes() + ", got " + nameOfGgufType(*number));
    tensor.type = *type;
    tensor.offset = *offset;
    int64_t row = tensor.shape.back();
    if (row % elementsOfBlock(*type) != 0)
      return fail(place, "expects rows of a multiple of " + std::to_string(elementsOfBlock(*type)) +
                             " elements for " + nameOf(*type) + ", got " + std::to_string(row));
    std::optional<uint64_t> bytes = countBytes(*type, tensor.shape);
    if (!bytes || *bytes > static_cast<uint64_t>(INT64_MAX))
      return fail(place, "expects a shape whose size in bytes fits 63 bits, got " +
                             printShape(tensor.shape) + " of " + nameOf(*type));
    tensor.bytes = *bytes;
    return true;
  }

  uint64_t align(uint64_t at) const { return (at + alignment - 1) & ~(alignment - 1); }

  /// That the tensors tile the data, each from a multiple of the alignment on.
  bool placeTensors() {
    uint64_t size = file.view->size();
    uint64_t begin = align(size - cursor.left());
    uint64_t available = begin > size ? 0 : size - begin, reached = 0;
    sortByPlace(file.content);
    for (StoredTensor &tensor : file.content) {
      std::string place = "tensor " + quote(tensor.name);
      // Sizes are positive, so none lies where another does without being told here.
      if (tensor.offset != align(reached))
        return fail(place, "expects data from byte " + std::to_string(align(reached)) +
                               " on, behind the tensor before, got byte " +
                               std::to_string(tensor.offset) +
                               (tensor.offset < reached ? ": an overlap" : ": a hole"));
      if (tensor.offset > available || tensor.bytes > available - tensor.offset)
        return fail(place, "expects data within the " + std::to_string(available) +
                               " bytes that the file has, got " + std::to_string(tensor.bytes) +
                               " bytes from " + std::to_string(tensor.offset) + " on");
      reached = tensor.offset + tensor.bytes;
      tensor.offset += begin;
    }
    if (available > align(reached))
      addNote(problems, file.path, "",
              "has " + std::to_string(available - reached) +
                  " bytes behind the last tensor, which are not read");
    return findNames();
  }

  bool findNames() {
    file.byName = TensorIndex(file.content);
    const StoredTensor *twice = file.byName.findTwice(file.content);
    return !twice || fail("tensor " + quote(twice->name), "expects each tensor once, got it twice");
  }

  GgufFile &file;
  const std::string &name;
  Problems &problems;
  GgufCursor cursor;
  uint64_t tensorCount = 0, keyCount = 0, alignment = 32;
};

} // namespace fovea

bool fovea::isGgufFile(std::string_view path) {
  constexpr std::string_view end = ".gguf";
  return path != end && endsWith(path, end);
}

std::optional<GgufFile> GgufFile::open(const std::string &folder, const std::string &file,
                                       Problems &problems, artifact::FileAccess access) {
  GgufFile result;
  result.path = folder == "." ? file : folder + "/" + file; // as it was given
  std::optional<RegularFile> opened = RegularFile::open(result.path, problems);
  if (!opened)
    return std::nullopt;
  if (opened->size < 4) {
    addError(problems, result.path, "",
             "expects a GGUF file of at least 24 bytes, got " + std::to_string(opened->size));
    return std::nullopt;
  }
  std::string error;
  result.view =
      artifact::FileView::open(opened->descriptor, opened->size, result.path, access, error);
  if (!result.view) {
    addError(problems, result.path, "", error);
    return std::nullopt;
  }
  if (!GgufReader(result, file, problems).run())
    return std::nullopt;
  return result;
}

std::vector<const StoredTensor *> GgufFile::list() const {
  std::vector<const StoredTensor *> result;
  for (const StoredTensor &tensor : content)
    result.push_back(&tensor);
  return result;
}

const StoredTensor *GgufFile::find(std::string_view name) const {
  return byName.find(content, name);
}

JsonValue GgufFile::section(std::string_view section) const {
  std::vector<std::string> names;
  std::vector<JsonValue> values;
  for (const GgufKey &key : keys) {
    if (key.name.size() <= section.size() || key.name.substr(0, section.size()) != section ||
        key.name[section.size()] != '.')
      continue;
    GgufCursor cursor{key.value, view->data() + view->size(), 0};
    names.emplace_back(key.name.substr(section.size() + 1));
    values.push_back(readGgufValue(cursor, key.type));
  }
  return JsonValue::ofObject(std::move(names), std::move(values));
}
