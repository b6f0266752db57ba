// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Protobuf's wire format, as far as tensors need it:
// https://protobuf.dev/programming-guides/encoding. Refuses what runs past its message's end;
// unknown fields are passed over, groups are refused.
#include "frontend/ONNX/Reader/OnnxFile.h"

#include "frontend/ForeignFile.h"

#include <algorithm>
#include <set>

namespace fovea::onnx {
namespace {

/// A shape is cut to so many sizes; none that is used has as many.
constexpr size_t kMostSizes = 65;

/// A part of the file that is one message.
class Message {
public:
  /// `fault` is set where a message does not fit.
  Message(const uint8_t *bytes, uint64_t begin, uint64_t end, uint64_t &fault)
      : bytes(bytes), at(begin), end(end), fault(fault) {}

  /// Reads the next field; false at the end, or after a fault.
  bool next() {
    uint64_t tag;
    if (at >= end || !varint(tag))
      return false;
    field = tag >> 3;
    type = tag & 7;
    switch (type) {
    case 0:
      return varint(number);
    case 1:
      return take(8);
    case 2:
      return varint(number) && take(number);
    case 5:
      return take(4);
    default:
      return fail();
    }
  }

  bool isMessage(uint64_t wanted) const { return field == wanted && type == 2; }
  bool isNumber(uint64_t wanted) const { return field == wanted && type == 0; }
  Message sub() const { return Message(bytes, first, at, fault); }
  std::string text() const {
    return std::string(reinterpret_cast<const char *>(bytes + first), at - first);
  }

  bool failed() const { return isFaulty; }

  uint64_t field = 0, number = 0, first = 0; ///< `first`: where the field's content begins.
  unsigned type = 0;
  const uint8_t *bytes;
  uint64_t at, end;

private:
  bool fail() {
    isFaulty = true;
    fault = at;
    return false;
  }
  bool varint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at >= end)
        return fail();
      uint8_t byte = bytes[at++];
      value |= uint64_t(byte & 127) << shift;
      if (!(byte & 128))
        return true;
    }
    return fail();
  }
  bool take(uint64_t count) {
    if (count > end - at)
      return fail();
    first = at;
    at += count;
    return true;
  }

  uint64_t &fault;
  bool isFaulty = false;
};

bool parseNumber(const std::string &text, uint64_t &number) {
  if (text.empty() || text.size() > 18)
    return false;
  number = 0;
  for (char digit : text) {
    if (digit < '0' || digit > '9')
      return false;
    number = number * 10 + (digit - '0');
  }
  return true;
}

/// A `StringStringEntryProto` of `external_data`.
bool readExternal(Message entry, TensorPlace &place) {
  std::string key, value;
  while (entry.next()) {
    if (entry.isMessage(1))
      key = entry.text();
    else if (entry.isMessage(2))
      value = entry.text();
  }
  uint64_t number = 0;
  bool isNumber = parseNumber(value, number);
  if (key == "location")
    place.location = value;
  else if (key == "offset")
    place.offset = number;
  else if (key == "length")
    place.size = number;
  if ((key == "offset" || key == "length") && !isNumber)
    place.fault = "expects the " + key +
                  " of external data to be a number of 1 to 18 digits, got " + quote(value);
  return !entry.failed();
}

bool readTensor(Message tensor, std::string &name, TensorPlace &place) {
  bool sound = true;
  while (sound && tensor.next()) {
    if (tensor.isNumber(1)) {
      place.shape.push_back(static_cast<int64_t>(tensor.number));
    } else if (tensor.isMessage(1)) {
      // Packed: varints without tags; a field's reader stops at their end.
      uint64_t value = 0;
      unsigned shift = 0;
      for (uint64_t i = tensor.first; i < tensor.at && sound; ++i) {
        value |= uint64_t(tensor.bytes[i] & 127) << shift;
        shift += 7;
        if (!(tensor.bytes[i] & 128)) {
          place.shape.push_back(static_cast<int64_t>(value));
          value = shift = 0;
        } else if (shift > 63) {
          sound = false;
        }
      }
    } else if (tensor.isNumber(2)) {
      place.type = static_cast<DataType>(tensor.number);
    } else if (tensor.isMessage(8)) {
      name = tensor.text();
    } else if (tensor.isMessage(9) || tensor.isMessage(4) || tensor.isMessage(10)) {
      // raw_data, float_data, double_data; a second piece would have to be joined.
      if (tensor.at == tensor.first && tensor.field != 9)
        continue;
      if (place.size && !place.isExternal)
        place.shape.assign(1, -1);
      place.offset = tensor.first;
      place.size = tensor.at - tensor.first;
    } else if (tensor.isMessage(13)) {
      sound = readExternal(tensor.sub(), place);
    } else if (tensor.isNumber(14)) {
      place.isExternal = tensor.number == 1;
    }
    // As many as show that it is no shape.
    if (place.shape.size() > kMostSizes)
      place.shape.resize(kMostSizes);
  }
  return sound && !tensor.failed();
}

/// The tensor of a node `Constant`.
bool readConstant(Message node, std::map<std::string, TensorPlace> &places) {
  std::string op, result;
  std::optional<TensorPlace> value;
  while (node.next()) {
    if (node.isMessage(4))
      op = node.text();
    else if (node.isMessage(2))
      result = node.text();
    else if (node.isMessage(5)) {
      Message attribute = node.sub();
      while (attribute.next())
        if (attribute.isMessage(5)) {
          std::string name;
          TensorPlace place;
          if (readTensor(attribute.sub(), name, place))
            value = std::move(place);
        }
      if (attribute.failed())
        return false;
    }
  }
  if (op == "Constant" && value && !result.empty())
    places.emplace(result, std::move(*value));
  return !node.failed();
}

} // namespace

bool indexTensors(const uint8_t *bytes, size_t size, std::map<std::string, TensorPlace> &places,
                  uint64_t &fault) {
  Message model(bytes, 0, size, fault);
  while (model.next()) {
    if (!model.isMessage(7))
      continue;
    Message graph = model.sub();
    while (graph.next()) {
      if (graph.isMessage(5)) {
        std::string name;
        TensorPlace place;
        if (!readTensor(graph.sub(), name, place))
          return false;
        places.emplace(std::move(name), std::move(place));
      } else if (graph.isMessage(1) && !readConstant(graph.sub(), places)) {
        return false;
      }
    }
    if (graph.failed())
      return false;
  }
  return !model.failed();
}

std::string describeNoModel(const FileView &file, uint64_t fault) {
  std::string_view begin(reinterpret_cast<const char *>(file.data()),
                         std::min<size_t>(file.size(), 1024));
  std::string other = describeForeign(begin);
  if (other.empty())
    other = "bytes that are no such protobuf message or end too early, at byte " +
            std::to_string(fault) + " of " + std::to_string(file.size());
  return "expects an ONNX model, got " + other;
}

std::optional<OnnxFile> OnnxFile::open(const std::string &path, Problems &problems,
                                       FileAccess access) {
  OnnxFile result;
  result.path = path;
  result.access = access;
  std::string error;
  result.file = openFile(path, access, error);
  if (!result.file) {
    addError(problems, path, "", error);
    return std::nullopt;
  }
  uint64_t fault = 0;
  if (!indexTensors(result.file->data(), result.file->size(), result.places, fault)) {
    addError(problems, path, "", describeNoModel(*result.file, fault));
    return std::nullopt;
  }
  return result;
}

const TensorPlace *OnnxFile::find(const std::string &name) const {
  auto place = places.find(name);
  return place == places.end() ? nullptr : &place->second;
}

std::vector<std::string> OnnxFile::locations() const {
  std::set<std::string> result;
  for (auto &[name, place] : places)
    if (place.isExternal)
      result.insert(place.location);
  return {result.begin(), result.end()};
}

const uint8_t *OnnxFile::data(const TensorPlace &place, std::string &error) {
  if (!place.fault.empty()) {
    error = place.fault;
    return nullptr;
  }
  uint64_t wanted = sizeOf(place.type);
  for (int64_t size : place.shape)
    if (size < 0 || __builtin_mul_overflow(wanted, static_cast<uint64_t>(size), &wanted)) {
      error = "expects sizes whose bytes can be counted, got " + printShape(place.shape);
      return nullptr;
    }
  const FileView *source = file.get();
  if (place.isExternal) {
    std::unique_ptr<FileView> &external = externals[place.location];
    if (!external)
      external = openExternal(path, place.location, access, error);
    if (!external)
      return nullptr;
    source = external.get();
  }
  uint64_t size = place.size.value_or(place.isExternal ? wanted : 0);
  if (size != wanted || place.offset > source->size() || wanted > source->size() - place.offset) {
    error = "expects " + std::to_string(wanted) + " bytes at " + std::to_string(place.offset) +
            ", got " + std::to_string(size) + " in a file of " + std::to_string(source->size());
    return nullptr;
  }
  static const uint8_t empty = 0;
  return wanted ? source->data() + place.offset : &empty;
}

} // namespace fovea::onnx
