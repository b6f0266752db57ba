// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading one safetensors file. Every number of the header is checked before it
// is used, and nothing is allocated from one.
#include "frontend/HuggingFace/Safetensors.h"

#include "frontend/ForeignFile.h"
#include "frontend/Json.h"

#include <algorithm>

using namespace fovea;

static constexpr uint64_t maxHeaderBytes = 100'000'000;
static constexpr size_t maxRank = 16;
/// Faults of one file that are listed before the rest is only counted.
static constexpr size_t maxFaults = 50;

std::optional<Safetensors> Safetensors::open(const std::string &folder, const std::string &file,
                                             Problems &problems, artifact::FileAccess access) {
  std::string path = folder + "/" + file;
  auto fail = [&](const std::string &message) {
    addError(problems, path, "", message);
    return std::nullopt;
  };
  std::optional<RegularFile> opened = RegularFile::open(path, problems);
  if (!opened)
    return std::nullopt;
  uint64_t size = opened->size;
  if (size < 8)
    return fail("expects a safetensors file of at least 8 bytes, got " + std::to_string(size));

  Safetensors result;
  std::string error;
  result.view = artifact::FileView::open(opened->descriptor, size, path, access, error);
  if (!result.view)
    return fail(error);
  if (!result.readHeader(path, file, problems))
    return std::nullopt;
  return result;
}

/// Reads what the header says of one tensor. `dataBegin` is where offsets count
/// from, `dataSize` what they may reach.
static std::optional<StoredTensor> readTensor(const std::string &name, const JsonValue &value,
                                              const std::string &path, uint64_t dataBegin,
                                              uint64_t dataSize, Problems &problems) {
  std::string place = "tensor " + quote(name);
  JsonObject entry(value, path, place, problems);
  if (!entry.valid())
    return std::nullopt;
  auto fail = [&](const std::string &message) {
    addError(problems, path, place, message);
    return std::nullopt;
  };
  StoredTensor tensor;
  tensor.name = name;

  std::optional<std::string> dtype = entry.string("dtype");
  const JsonValue *shape = entry.array("shape");
  const JsonValue *offsets = entry.array("data_offsets");
  if (!dtype || !shape || !offsets)
    return std::nullopt;
  std::optional<ElementType> type = parseElementType(*dtype);
  if (!type)
    return fail("expects a known element type (F32, F16, BF16, ...), got " + quote(*dtype));
  tensor.type = *type;

  if (shape->elements().size() > maxRank)
    return fail("expects a shape of at most " + std::to_string(maxRank) + " sizes, got " +
                std::to_string(shape->elements().size()));
  for (const JsonValue &size : shape->elements()) {
    if (!size.isInteger() || size.integer() < 0)
      return fail("expects sizes that are integers from 0, got " + size.describe());
    tensor.shape.push_back(size.integer());
  }
  std::optional<uint64_t> bytes = countBytes(tensor.type, tensor.shape);
  if (!bytes)
    return fail("expects a shape whose size in bytes fits 64 bits, got " +
                printShape(tensor.shape));
  tensor.bytes = *bytes;

  const std::vector<JsonValue> &ends = offsets->elements();
  if (ends.size() != 2 || !ends[0].isInteger() || !ends[1].isInteger() || ends[0].integer() < 0)
    return fail("expects data_offsets to be two integers from 0, got " +
                (ends.size() == 2 ? ends[0].describe() + " and " + ends[1].describe()
                                  : offsets->describe()));
  int64_t begin = ends[0].integer(), end = ends[1].integer();
  if (end < begin)
    return fail("expects data to end after it begins, got bytes " + std::to_string(begin) + " to " +
                std::to_string(end));
  if (static_cast<uint64_t>(end) > dataSize)
    return fail("expects data within the " + std::to_string(dataSize) +
                " bytes that the file has, got bytes " + std::to_string(begin) + " to " +
                std::to_string(end));
  if (static_cast<uint64_t>(end - begin) != *bytes)
    return fail("expects " + std::to_string(*bytes) + " bytes for the shape " +
                printShape(tensor.shape) + " of " + nameOf(tensor.type) + ", got " +
                std::to_string(end - begin));
  tensor.offset = dataBegin + static_cast<uint64_t>(begin);
  return tensor;
}

/// Checks that `tensors`, sorted by offset, tile the data from `begin` to `end`.
static void checkTiling(const std::vector<StoredTensor> &tensors, uint64_t begin, uint64_t end,
                        const std::string &path, Problems &problems) {
  uint64_t reached = begin;
  const StoredTensor *previous = nullptr;
  for (const StoredTensor &tensor : tensors) {
    std::string place = "tensor " + quote(tensor.name);
    if (tensor.offset < reached)
      addError(problems, path, place,
               "expects data of its own, got bytes " + std::to_string(tensor.offset - begin) +
                   " to " + std::to_string(tensor.offset + tensor.bytes - begin) +
                   ", which overlap tensor " + quote(previous->name) + " up to byte " +
                   std::to_string(reached - begin));
    else if (tensor.offset > reached)
      addError(problems, path, place,
               "expects data from byte " + std::to_string(reached - begin) +
                   ", where the tensor before ends, got byte " +
                   std::to_string(tensor.offset - begin) + ": a hole");
    if (tensor.offset + tensor.bytes >= reached) {
      reached = tensor.offset + tensor.bytes;
      previous = &tensor;
    }
  }
  if (reached != end)
    addError(problems, path, "",
             "expects " + std::to_string(reached - begin) + " bytes of data, got " +
                 std::to_string(end - begin) + ": bytes that belong to no tensor");
}

bool Safetensors::readHeader(const std::string &path, const std::string &file, Problems &problems) {
  uint64_t headerSize = 0;
  for (int i = 7; i >= 0; --i)
    headerSize = headerSize << 8 | view->data()[i];
  uint64_t afterLength = view->size() - 8;
  auto fail = [&](const std::string &message) {
    addError(problems, path, "header", message);
    return false;
  };
  std::string_view begin(reinterpret_cast<const char *>(view->data()),
                         std::min<size_t>(view->size(), 1024));
  std::string other = begin.substr(8, 1) == "{" ? "" : describeForeign(begin);
  if (headerSize > afterLength && !other.empty()) {
    addError(problems, path, "", "expects a safetensors file, got " + other);
    return false;
  }
  if (headerSize > afterLength)
    return fail("expects a header within the " + std::to_string(afterLength) +
                " bytes that follow its length, got a length of " + std::to_string(headerSize));
  if (headerSize > maxHeaderBytes)
    return fail("expects at most " + std::to_string(maxHeaderBytes) + " bytes, got " +
                std::to_string(headerSize));
  std::string_view text(reinterpret_cast<const char *>(view->data()) + 8, headerSize);
  if (text.empty() || text.front() != '{')
    return fail("expects a JSON object that begins with '{', got " +
                (text.empty() ? "nothing" : quote(text.substr(0, 8))));
  JsonLimits limits;
  limits.maxDepth = 8;
  std::optional<JsonValue> header = parseJson(text, path + ": header", problems, limits);
  if (!header)
    return false;

  Problems faults;
  uint64_t dataBegin = 8 + headerSize;
  uint64_t dataSize = view->size() - dataBegin;
  for (size_t i = 0; i < header->keys().size() && faults.size() < maxFaults; ++i) {
    const std::string &name = header->keys()[i];
    if (name == "__metadata__")
      continue; // free text about the file, without meaning here
    if (auto tensor = readTensor(name, header->elements()[i], path, dataBegin, dataSize, faults)) {
      tensor->file = file;
      content.push_back(std::move(*tensor));
    }
  }
  if (faults.empty()) {
    sortByPlace(content);
    checkTiling(content, dataBegin, view->size(), path, faults);
  }
  if (faults.size() > maxFaults) {
    faults.resize(maxFaults);
    addError(faults, path, "", "has more faults than these");
  }
  problems.insert(problems.end(), faults.begin(), faults.end());

  byName = TensorIndex(content);
  return faults.empty();
}

const StoredTensor *Safetensors::find(std::string_view name) const {
  return byName.find(content, name);
}

const uint8_t *Safetensors::data(const StoredTensor &tensor) const {
  return view->data() + tensor.offset;
}
