// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over a model's message that notes where its tensors' bytes lie: initialisers of the main
// graph and values of its `Constant` nodes, in raw_data or in typed fields of the same layout.
#include "frontend/ONNX/Reader/OnnxFile.h"
#include "frontend/WireFormat.h"

namespace fovea::onnx {
namespace {

/// A shape is cut to so many sizes; none that is used has as many.
constexpr size_t kMostSizes = 65;

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

} // namespace fovea::onnx
