// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the wire format field by field, and checks of the pieces what SentencePiece itself checks
// when it loads a model.
#include "frontend/tokenizer/SentencePieceFile.h"

#include "frontend/ForeignFile.h"
#include "frontend/Json.h"
#include "frontend/WireFormat.h"
#include "runtime/tokenizer/SentencePiece.h"
#include "runtime/tokenizer/Utf8.h"

#include <cmath>
#include <set>

using namespace fovea;

namespace {
class Reader {
public:
  Reader(const std::string &path, const std::string &bytes, Problems &problems)
      : path(path), bytes(bytes), problems(problems) {}

  std::optional<SentencePieceFile> run() {
    uint64_t fault = 0;
    Message root(reinterpret_cast<const uint8_t *>(bytes.data()), 0, bytes.size(), fault);
    bool sound = true;
    while (sound && root.next()) {
      if (root.isMessage(1))
        sound = readPiece(root.sub());
      else if (root.isMessage(2))
        sound = readTrainer(root.sub());
      else if (root.isMessage(3))
        sound = readNormalizer(root.sub());
      else if (root.isMessage(5))
        sound = readDenormalizer(root.sub());
    }
    if (!hasErrors(problems) && (!sound || root.failed()))
      fail("byte " + std::to_string(fault), "expects a field of a SentencePiece model" + foreign());
    if (!hasErrors(problems) && file.pieces.empty())
      fail("pieces", "expects a SentencePiece model with pieces" + foreign());
    if (!hasErrors(problems))
      checkPieces(file, path, "pieces", problems);
    if (hasErrors(problems))
      return std::nullopt;
    return std::move(file);
  }

private:
  bool fail(const std::string &place, const std::string &message) {
    addError(problems, path, place, message);
    return false;
  }
  std::string foreign() const {
    std::string found = describeForeign(std::string_view(bytes).substr(0, 64), path);
    return found.empty() ? "" : ", got " + found;
  }
  std::string placeOf(const char *key) const {
    return "pieces[" + std::to_string(file.pieces.size()) + "]." + key;
  }

  bool readPiece(Message message) {
    SentencePieceFile::Piece piece;
    while (message.next()) {
      if (message.isMessage(1)) {
        piece.text = message.text();
      } else if (message.isFloat(2)) {
        piece.score = message.real();
      } else if (message.isNumber(3)) {
        if (message.number < 1 || message.number > 6)
          return fail(placeOf("type"),
                      "expects a type from 1 to 6, got " + std::to_string(message.number));
        piece.type = static_cast<SentencePieceFile::PieceType>(message.number);
      }
    }
    if (message.failed())
      return false;
    if (piece.text.empty() || !isUtf8(piece.text))
      return fail(placeOf("piece"), "expects some UTF-8 text, got " + quote(piece.text));
    if (!std::isfinite(piece.score))
      return fail(placeOf("score"),
                  "expects a finite number, got " + printNumber(double(piece.score)));
    file.pieces.push_back(std::move(piece));
    return true;
  }

  bool readTrainer(Message message) {
    while (message.next()) {
      if (message.isNumber(3)) {
        if (message.number != 1 && message.number != 2)
          return fail("trainer_spec.model_type",
                      "expects 1 (unigram) or 2 (bpe), got " + std::to_string(message.number));
        file.type = static_cast<SentencePieceFile::ModelType>(message.number);
      } else if (message.isNumber(24)) {
        file.spaceIsSuffix = message.number != 0;
      } else if (message.isNumber(35)) {
        file.byteFallback = message.number != 0;
      } else if (message.isMessage(46)) {
        file.beginPiece = message.text();
      } else if (message.isMessage(47)) {
        file.endPiece = message.text();
      } else if (message.isMessage(48)) {
        file.padPiece = message.text();
      }
    }
    return !message.failed();
  }

  bool readNormalizer(Message message) {
    while (message.next()) {
      if (message.isMessage(2))
        file.characterMap = message.text();
      else if (message.isNumber(3))
        file.addDummyPrefix = message.number != 0;
      else if (message.isNumber(4))
        file.removeExtraSpaces = message.number != 0;
      else if (message.isNumber(5))
        file.escapeSpaces = message.number != 0;
    }
    return !message.failed();
  }

  bool readDenormalizer(Message message) {
    while (message.next())
      if (message.isMessage(2) && message.at > message.first)
        return fail("denormalizer_spec.precompiled_charsmap",
                    "expects nothing: rules for decoded text are not supported");
    return !message.failed();
  }

  const std::string &path, &bytes;
  Problems &problems;
  SentencePieceFile file;
};
} // namespace

void fovea::checkPieces(SentencePieceFile &file, const std::string &path, const std::string &list,
                        Problems &problems) {
  using Type = SentencePieceFile::PieceType;
  auto fail = [&](const std::string &place, const std::string &message) {
    addError(problems, path, place, message);
  };
  std::set<std::string_view> normal, reserved;
  std::vector<bool> hasByte(256);
  for (size_t i = 0; i < file.pieces.size(); ++i) {
    const SentencePieceFile::Piece &piece = file.pieces[i];
    std::string place = list + "[" + std::to_string(i) + "]";
    bool isNormal =
        piece.type == Type::Normal || piece.type == Type::UserDefined || piece.type == Type::Unused;
    if (!(isNormal ? normal : reserved).insert(piece.text).second)
      return fail(place + ".piece", "expects a text of its own, got " + quote(piece.text) +
                                        ", which another piece has");
    if (piece.type == Type::Unknown && file.unknown >= 0)
      return fail(place + ".type", "expects one unknown piece, got a second one");
    if (piece.type == Type::Unknown)
      file.unknown = static_cast<int32_t>(i);
    if (piece.type != Type::Byte)
      continue;
    int byte = byteOfPiece(piece.text);
    if (!file.byteFallback || byte < 0)
      return fail(place, std::string("expects ") +
                             (file.byteFallback ? "a byte's text from '<0x00>' to '<0xFF>'"
                                                : "no byte without trainer_spec.byte_fallback") +
                             ", got " + quote(piece.text));
    hasByte[static_cast<size_t>(byte)] = true;
  }
  if (file.unknown < 0)
    fail(list, "expects one unknown piece, got none");
  for (size_t byte = 0; file.byteFallback && byte < 256; ++byte)
    if (!hasByte[byte])
      return fail(list, "expects a piece for each byte, got none for " + std::to_string(byte));
}

std::optional<SentencePieceFile> SentencePieceFile::open(const std::string &path,
                                                         Problems &problems) {
  constexpr uint64_t mostBytes = uint64_t(64) << 20;
  std::optional<std::string> bytes = readFile(path, mostBytes, problems);
  if (!bytes)
    return std::nullopt;
  return Reader(path, *bytes, problems).run();
}
