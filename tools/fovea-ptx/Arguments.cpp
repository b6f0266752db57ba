// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars, made-up buffers, and arrays of .npz files. Refuses numbers that do not fit.
#include "tools/fovea-ptx/Arguments.h"

#include "emulator/Float.h"
#include "emulator/TensorMap.h"

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace fovea::emulator;

namespace fovea {

namespace {
std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

uint64_t number(const std::string &text, uint64_t most, const std::string &whole) {
  char *end = nullptr;
  errno = 0;
  uint64_t value = std::strtoull(text.c_str(), &end, 0);
  if (text.empty() || *end || errno || text[0] == '-' || value > most)
    fail("argument '", whole, "' expects a number up to ", most, ", got '", text, "'");
  return value;
}

/// DLPack's codes: 0 signed, 1 unsigned, 2 float, 4 bfloat.
bool element(const std::string &name, fovea_dtype &type) {
  struct {
    const char *name;
    uint8_t code, bits;
  } known[] = {{"s8", 0, 8},   {"s16", 0, 16}, {"s32", 0, 32}, {"s64", 0, 64},
               {"u8", 1, 8},   {"u16", 1, 16}, {"u32", 1, 32}, {"u64", 1, 64},
               {"f16", 2, 16}, {"f32", 2, 32}, {"f64", 2, 64}, {"bf16", 4, 16}};
  for (auto &each : known)
    if (name == each.name) {
      type = {each.code, each.bits, 1};
      return true;
    }
  return false;
}

void store(double value, fovea_dtype type, uint8_t *to) {
  uint64_t bits = 0;
  if (type.code == 2 && type.bits == 32)
    bits = bitsAs<uint32_t>(static_cast<float>(value));
  else if (type.code == 2 && type.bits == 64)
    bits = bitsAs<uint64_t>(value);
  else if (type.code == 2)
    bits = toF16(static_cast<float>(value));
  else if (type.code == 4)
    bits = toBf16(static_cast<float>(value));
  else
    bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  std::memcpy(to, &bits, type.bits / 8);
}

void scalar(const std::string &text, const std::string &value, fovea_dtype type,
            Arguments &arguments) {
  std::vector<uint8_t> bytes(type.bits / 8);
  if (type.code >= 2) {
    char *end = nullptr;
    double parsed = std::strtod(value.c_str(), &end);
    if (value.empty() || *end)
      fail("argument '", text, "' expects a number, got '", value, "'");
    store(parsed, type, bytes.data());
  } else {
    bool negative = !value.empty() && value[0] == '-';
    uint64_t most = type.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << type.bits) - 1;
    uint64_t parsed = number(negative ? value.substr(1) : value, most, text);
    parsed = negative ? -parsed : parsed;
    std::memcpy(bytes.data(), &parsed, bytes.size());
  }
  arguments.addBytes(std::move(bytes));
}
/// `map:NUMBER:TYPE:SIZES:BOX:SWIZZLE`, with sizes as 64x128, the innermost axis last.
void tensorMap(const std::string &text, const std::vector<std::string> &parts, Arguments &arguments,
               const std::vector<Buffer> &buffers) {
  TensorMap map;
  fovea_dtype type{};
  if (!element(parts[2], type))
    fail("argument '", text, "' expects a type, got '", parts[2], "'");
  std::string name = "arg" + std::to_string(number(parts[1], 1000, text));
  auto buffer = std::find_if(buffers.begin(), buffers.end(),
                             [&](const Buffer &one) { return one.name == name; });
  if (buffer == buffers.end())
    fail("argument '", text, "' expects the number of a buffer before it, got '", parts[1], "'");
  std::vector<std::string> sizes = split(parts[3], 'x'), box = split(parts[4], 'x');
  if (sizes.size() > 5 || box.size() != sizes.size())
    fail("argument '", text, "' expects sizes and a box of one to five axes each, got ",
         sizes.size(), " and ", box.size());
  map.address = buffer->address;
  map.elementBytes = type.bits / 8;
  map.rank = static_cast<uint32_t>(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    map.sizes[i] = number(sizes[sizes.size() - 1 - i], uint64_t{1} << 32, text);
    map.box[i] = static_cast<uint32_t>(number(box[sizes.size() - 1 - i], 256, text));
    if (i > 0)
      map.strides[i - 1] = map.sizes[i - 1] * (i > 1 ? map.strides[i - 2] : map.elementBytes);
  }
  uint64_t swizzle = number(parts[5], 128, text);
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    fail("argument '", text, "' expects a swizzle of 0, 32, 64 or 128, got ", swizzle);
  map.swizzle = TensorMap::swizzleOf(swizzle);
  arguments.add(map.encode());
}
} // namespace

void addArgument(const std::string &text, size_t index, Device &device, Arguments &arguments,
                 std::vector<Buffer> &buffers) {
  std::vector<std::string> parts = split(text, ':');
  fovea_dtype type{};
  Buffer buffer;
  buffer.name = "arg" + std::to_string(index);
  auto keep = [&] {
    buffer.array.name = buffer.name;
    arguments.add(buffer.address);
    buffers.push_back(std::move(buffer));
  };
  if (parts.size() == 2 && element(parts[0], type))
    return scalar(text, parts[1], type, arguments);
  if (parts[0] == "map" && parts.size() == 6)
    return tensorMap(text, parts, arguments, buffers);
  if (parts[0] == "npz" && parts.size() == 3) {
    std::vector<verbs::Array> arrays;
    std::string error;
    if (!verbs::readNpz(parts[1], arrays, error))
      fail(error);
    std::string names;
    for (verbs::Array &array : arrays) {
      names += (names.empty() ? "" : ", ") + array.name;
      if (array.name != parts[2])
        continue;
      buffer.name = array.name;
      buffer.array.dtype = array.dtype;
      buffer.array.shape = array.shape;
      buffer.address = device.memory().allocate(array.data.size(), array.name);
      device.memory().write(buffer.address, array.data.data(), array.data.size());
      return keep();
    }
    fail("argument '", text, "' expects an array of ", parts[1], " (", names, "), got '", parts[2],
         "'");
  }
  bool fresh = parts[0] == "new", zeros = parts[0] == "zeros", random = parts[0] == "random",
       range = parts[0] == "range";
  if ((fresh || zeros || random || range) && (parts.size() == 3 || (random && parts.size() == 4)) &&
      element(parts[1], type)) {
    uint64_t count = number(parts[2], uint64_t{1} << 32, text), width = type.bits / 8;
    buffer.array.dtype = type;
    buffer.array.shape = {static_cast<int64_t>(count)};
    buffer.address = device.memory().allocate(count * width, buffer.name);
    if (zeros)
      device.memory().fill(buffer.address, 0, count * width);
    if (random || range) {
      std::vector<uint8_t> data(count * width);
      std::mt19937_64 generator(parts.size() == 4 ? number(parts[3], ~uint64_t{0}, text) : 1);
      std::normal_distribution<double> normal;
      for (uint64_t i = 0; i < count; ++i)
        store(range ? static_cast<double>(i) : normal(generator) * (type.code < 2 ? 50 : 1), type,
              data.data() + i * width);
      device.memory().write(buffer.address, data.data(), data.size());
    }
    return keep();
  }
  fail("an argument expects TYPE:VALUE, new:TYPE:COUNT, zeros:TYPE:COUNT, range:TYPE:COUNT, "
       "random:TYPE:COUNT[:SEED], npz:FILE:NAME or map:NUMBER:TYPE:SIZES:BOX:SWIZZLE (types s8 to "
       "s64, u8 to u64, f16, bf16, f32, f64), got '",
       text, "'");
}

} // namespace fovea
