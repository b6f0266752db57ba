// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Protobuf's wire format, as far as tensors and tokenizers need it:
// https://protobuf.dev/programming-guides/encoding. Refuses what runs past its message's end;
// unknown fields are passed over, groups are refused.
#ifndef FOVEA_FRONTEND_WIREFORMAT_H
#define FOVEA_FRONTEND_WIREFORMAT_H

#include <cstdint>
#include <cstring>
#include <string>

namespace fovea {

/// A part of the file that is one message.
class Message {
public:
  /// `fault` is set where a message does not fit.
  Message(const uint8_t *bytes, uint64_t begin, uint64_t end, uint64_t &fault)
      : bytes(bytes), at(begin), end(end), fault(fault) {}

  /// Reads the next field; false at the end, or after a fault.
  bool next();

  bool isMessage(uint64_t wanted) const { return field == wanted && type == 2; }
  bool isNumber(uint64_t wanted) const { return field == wanted && type == 0; }
  bool isFloat(uint64_t wanted) const { return field == wanted && type == 5; }
  Message sub() const { return Message(bytes, first, at, fault); }
  std::string text() const {
    return std::string(reinterpret_cast<const char *>(bytes + first), at - first);
  }

  /// Of four bytes.
  float real() const {
    float value;
    std::memcpy(&value, bytes + first, sizeof value);
    return value;
  }

  bool failed() const { return isFaulty; }

  uint64_t field = 0, number = 0, first = 0; ///< `first`: where the field's content begins.
  unsigned type = 0;
  const uint8_t *bytes;
  uint64_t at, end;

private:
  bool fail();
  bool varint(uint64_t &value);
  bool take(uint64_t count);

  uint64_t &fault;
  bool isFaulty = false;
};

} // namespace fovea

#endif // FOVEA_FRONTEND_WIREFORMAT_H
