// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WireTree.h. Wire types 0, 1, 2 and 5 of protobuf's encoding; groups are no message here.
#include "test/fuzz/support/WireTree.h"

#include "test/fuzz/support/Fuzz.h"

namespace fovea::fuzz {

namespace {

enum WireType : unsigned { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct Field {
  uint64_t number = 0;
  WireType type = Varint;
  uint64_t value = 0;        ///< Varint
  std::string bytes;         ///< the others
  std::vector<Field> fields; ///< of Bytes that are a message
  bool isMessage = false;
};

constexpr unsigned kMostDepth = 24;
constexpr uint64_t kMostFields = 100; ///< numbers above are no message of ours

bool readVarint(std::string_view &left, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !left.empty(); shift += 7) {
    auto byte = static_cast<uint8_t>(left.front());
    left.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128)
      return true;
  }
  return false;
}

bool parse(std::string_view left, std::vector<Field> &fields, unsigned depth = 0) {
  if (depth > kMostDepth)
    return false;
  while (!left.empty()) {
    Field field;
    uint64_t tag = 0, size = 0;
    if (!readVarint(left, tag))
      return false;
    field.number = tag >> 3;
    field.type = static_cast<WireType>(tag & 7);
    if (field.number == 0 || field.number > kMostFields)
      return false;
    if (field.type == Varint) {
      if (!readVarint(left, field.value))
        return false;
      fields.push_back(std::move(field));
      continue;
    }
    if (field.type == Fixed64 || field.type == Fixed32)
      size = field.type == Fixed64 ? 8 : 4;
    else if (field.type != Bytes || !readVarint(left, size))
      return false;
    if (size > left.size())
      return false;
    field.bytes = left.substr(0, size);
    left.remove_prefix(size);
    if (field.type == Bytes && size > 1) {
      field.isMessage = parse(field.bytes, field.fields, depth + 1);
      if (!field.isMessage)
        field.fields.clear();
    }
    fields.push_back(std::move(field));
  }
  return true;
}

void writeVarint(uint64_t value, std::string &out) {
  for (; value > 127; value >>= 7)
    out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

std::string print(const std::vector<Field> &fields) {
  std::string out;
  for (const Field &field : fields) {
    writeVarint(field.number << 3 | field.type, out);
    if (field.type == Varint) {
      writeVarint(field.value, out);
      continue;
    }
    std::string inside = field.isMessage ? print(field.fields) : "";
    const std::string &bytes = field.isMessage ? inside : field.bytes;
    if (field.type == Bytes)
      writeVarint(bytes.size(), out);
    out += bytes;
  }
  return out;
}

struct Place {
  std::vector<Field> *message;
  size_t index;
  Field &field() const { return (*message)[index]; }
};

void collect(std::vector<Field> &message, std::vector<Place> &places) {
  for (size_t i = 0; i < message.size(); ++i) {
    places.push_back({&message, i});
    if (message[i].isMessage)
      collect(message[i].fields, places);
  }
}

void changeValue(Field &field, const std::vector<Place> &places,
                 const std::vector<std::string> &words, Random &random) {
  if (field.type == Varint) {
    field.value = changedNumber(field.value, random);
  } else if (field.type != Bytes) {
    for (char &c : field.bytes)
      if (random.oneIn(2))
        c = static_cast<char>(random.oneIn(3) ? 0xff : random.next());
  } else if (field.isMessage) {
    if (random.oneIn(3) || field.fields.size() < 2)
      field.fields.clear();
    else
      std::swap(field.fields[random.below(field.fields.size())],
                field.fields[random.below(field.fields.size())]);
  } else {
    switch (random.below(6)) {
    case 0:
      field.bytes.clear();
      return;
    case 1:
      field.bytes.resize(random.below(field.bytes.size()));
      return;
    case 2:
      field.bytes.append(1 + random.below(64), '\xff');
      return;
    case 3:
      if (Field &other = random.of(places).field(); other.type == Bytes && !other.isMessage)
        field.bytes = std::string(other.bytes);
      return;
    case 4:
      if (!words.empty())
        field.bytes = random.of(words);
      return;
    default:
      changeText(field.bytes, random);
    }
  }
}

void change(std::vector<Field> &root, const std::vector<std::string> &words, Random &random) {
  std::vector<Place> places;
  collect(root, places);
  if (places.empty())
    return;
  Place place = random.of(places);
  std::vector<Field> &message = *place.message;
  switch (random.below(10)) {
  case 0:
    message.erase(message.begin() + static_cast<ptrdiff_t>(place.index));
    return;
  case 1: {
    Field copy = place.field();
    message.insert(message.begin() + static_cast<ptrdiff_t>(random.below(message.size() + 1)),
                   std::move(copy));
    return;
  }
  case 2:
  case 3: { // another field of the same kind, in the words of this one
    Field copy = random.of(places).field();
    if (copy.type != place.field().type)
      return;
    if (!random.oneIn(4))
      copy.number = place.field().number;
    place.field() = std::move(copy);
    return;
  }
  case 4:
    place.field().number = 1 + random.below(25);
    return;
  default:
    changeValue(place.field(), places, words, random);
  }
}

} // namespace

size_t mutateWire(uint8_t *data, size_t size, size_t most, unsigned seed,
                  const std::vector<std::string> &words) {
  Random random(seed);
  std::vector<Field> root;
  std::string_view bytes(reinterpret_cast<char *>(data), size);
  if (random.oneIn(10) || !parse(bytes, root))
    return LLVMFuzzerMutate(data, size, most);
  for (size_t changes = 1 + random.below(3); changes; --changes)
    change(root, words, random);
  return give(print(root), data, size, most);
}

} // namespace fovea::fuzz
