// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See the header. Refuses what is no text: a file with zero bytes or without words.
#include "tools/compile/CalibrationTexts.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

namespace fovea::compile {

/// Tokens of a window: enough that the first ones, which see little, are few.
static constexpr size_t kWindow = 512;
/// Tokens that are observed: GPTQ's 128 windows of 2,048 change little beyond some thousands.
static constexpr size_t kMostTokens = 16384;
/// One piece in so many is held out, up to the second number of them.
static constexpr size_t kHoldOut = 5, kMostHeldOut = 64;
/// What is read of a file.
static constexpr size_t kMostBytes = size_t(16) << 20;

bool readCalibrationText(const std::string &path, std::string &text, std::string &error) {
  std::ifstream file(path, std::ios::binary);
  if (file) {
    text.resize(kMostBytes);
    file.read(text.data(), static_cast<std::streamsize>(kMostBytes));
    text.resize(static_cast<size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad() || (text.empty() && !file.eof())) {
    error = path + ": " + std::strerror(errno);
    return false;
  }
  if (text.find('\0') != std::string::npos) {
    error = path + ": expects text, got a zero byte at " + std::to_string(text.find('\0'));
    return false;
  }
  return true;
}

/// Tokens of a piece.
static size_t getMostTokens(const TextRunner &model) {
  int64_t taken = model.getMostTokens();
  return taken > 0 ? std::min(kWindow, static_cast<size_t>(taken)) : kWindow;
}

/// Windows of a decoder's text, each with the tokens that a text begins with.
static bool cutWindows(const std::string &text, const TextRunner &model,
                       std::vector<TextPiece> &pieces, std::string &error) {
  std::vector<int64_t> ids, all, plain;
  if (!model.encode(text, /*special=*/false, ids, error) ||
      !model.encode("a", /*special=*/true, all, error) ||
      !model.encode("a", /*special=*/false, plain, error))
    return false;
  auto at = llvm::search(all, plain);
  std::vector<int64_t> begin(all.begin(), at == all.end() ? all.begin() : at);
  size_t most = getMostTokens(model);
  size_t own = most > begin.size() ? most - begin.size() : 1;
  // Of a short text there are two.
  own = std::min(own, std::max<size_t>((ids.size() + 1) / 2, 2));
  for (size_t first = 0; first + 1 < ids.size(); first += own) {
    TextPiece piece;
    piece.ids = begin;
    size_t end = std::min(first + own, ids.size());
    piece.ids.insert(piece.ids.end(), ids.begin() + static_cast<std::ptrdiff_t>(first),
                     ids.begin() + static_cast<std::ptrdiff_t>(end));
    pieces.push_back(std::move(piece));
  }
  return true;
}

/// An encoder's texts: lines that are not empty.
static bool cutLines(const std::string &text, const TextRunner &model,
                     std::vector<TextPiece> &pieces, std::string &error) {
  size_t most = getMostTokens(model);
  for (size_t first = 0; first < text.size();) {
    size_t end = std::min(text.find('\n', first), text.size());
    std::string line = text.substr(first, end - first);
    first = end + 1;
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    if (line.find_first_not_of(" \t") == std::string::npos)
      continue;
    TextPiece piece;
    piece.text = line;
    if (!model.encode(line, /*special=*/true, piece.ids, error))
      return false;
    piece.isCut = piece.ids.size() > most;
    piece.ids.resize(std::min(piece.ids.size(), most));
    if (!piece.ids.empty())
      pieces.push_back(std::move(piece));
  }
  return true;
}

/// So many of the pieces, at equal distances, that they hold about `most` tokens.
static std::vector<TextPiece> thin(std::vector<TextPiece> pieces, size_t most) {
  size_t tokens = 0;
  for (const TextPiece &piece : pieces)
    tokens += piece.ids.size();
  if (tokens <= most)
    return pieces;
  size_t wanted = std::max<size_t>(pieces.size() * most / tokens, 2);
  std::vector<TextPiece> chosen;
  for (size_t i = 0; i < wanted; ++i)
    chosen.push_back(std::move(pieces[i * pieces.size() / wanted]));
  return chosen;
}

bool CalibrationTexts::cut(const std::string &file, const std::string &text,
                           const TextRunner &model, std::string &error) {
  std::vector<TextPiece> pieces;
  if (!(model.isDecoder() ? cutWindows : cutLines)(text, model, pieces, error))
    return false;
  if (pieces.size() < 2) {
    error = file + ": expects " +
            (model.isDecoder() ? "a text of four tokens or more" : "two lines of text or more") +
            ", got " + std::to_string(pieces.size()) +
            (model.isDecoder() ? " pieces of two" : (pieces.size() == 1 ? " line" : " lines"));
    return false;
  }
  pieces = thin(std::move(pieces), kMostTokens * kHoldOut / (kHoldOut - 1));
  for (size_t i = 0; i < pieces.size(); ++i) {
    // Of a line that was cut the vector would be that of all of it; the last may be needed.
    bool isHeldOut = i % kHoldOut == 1 && (!pieces[i].isCut || heldOut.empty());
    if (!isHeldOut) {
      observedTokens += pieces[i].ids.size();
      observed.push_back(std::move(pieces[i]));
    } else if (heldOut.size() < kMostHeldOut) {
      heldOut.push_back(std::move(pieces[i]));
    }
  }
  return true;
}

//===-- What a model makes of them -----------------------------------------------------------===//

/// The logarithm of the sum of the exponentials.
static double sumExponentials(const float *scores, int64_t count) {
  double most = *std::max_element(scores, scores + count), sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += std::exp(scores[i] - most);
  return std::log(sum) + most;
}

/// Adds what two models make of the tokens behind each other.
static void addTokens(const RunResult &reference, const RunResult &model,
                      const std::vector<int64_t> &ids, TextComparison &found) {
  int64_t width = reference.width;
  for (int64_t row = 0; row + 1 < reference.rows; ++row) {
    const float *p = reference.data + row * width, *q = model.data + row * width;
    int64_t told = ids[static_cast<size_t>(row) + 1];
    if (told >= width)
      continue;
    double sumOfP = sumExponentials(p, width), sumOfQ = sumExponentials(q, width);
    for (int64_t i = 0; i < width; ++i)
      found.divergence += std::exp(p[i] - sumOfP) * ((p[i] - sumOfP) - (q[i] - sumOfQ));
    found.referenceLoss += sumOfP - p[told];
    found.loss += sumOfQ - q[told];
    ++found.tokens;
  }
}

static void addVectors(const float *one, const float *other, int64_t count, TextComparison &found) {
  double product = 0, ofOne = 0, ofOther = 0;
  for (int64_t i = 0; i < count; ++i) {
    double a = one[i], b = other[i];
    product += a * b;
    ofOne += a * a;
    ofOther += b * b;
  }
  double cosine = product / std::sqrt(std::max(ofOne * ofOther, 1e-300));
  found.meanCosine += cosine;
  found.leastCosine = std::min(found.leastCosine, cosine);
  ++found.texts;
}

/// The logits of `forward`, or the first of what it gives.
static bool runForward(TextRunner &model, const TextPiece &piece, RunResult &result,
                       std::string &error) {
  std::vector<RunResult> results;
  if (!model.run(model.getForward(), piece.ids, results, error))
    return false;
  if (results.empty()) {
    error = "expects an entry '" + model.getForward() + "' that gives f32, got none";
    return false;
  }
  result = results.front();
  for (const RunResult &each : results)
    if (each.role == FOVEA_ROLE_LOGITS)
      result = each;
  return true;
}

static bool compareOnText(TextRunner &reference, TextRunner &model, const TextPiece &piece,
                          TextComparison &found, std::string &error) {
  if (!reference.isDecoder() && reference.canEmbed()) {
    std::vector<float> one, other;
    if (!reference.embed(piece.text, one, error) || !model.embed(piece.text, other, error))
      return false;
    addVectors(one.data(), other.data(), static_cast<int64_t>(std::min(one.size(), other.size())),
               found);
    return true;
  }
  RunResult one, other;
  if (!runForward(reference, piece, one, error) || !runForward(model, piece, other, error))
    return false;
  if (one.rows != other.rows || one.width != other.width) {
    error = "expects results of one shape, got others of '" + other.name + "'";
    return false;
  }
  if (reference.isDecoder() && one.rows == static_cast<int64_t>(piece.ids.size()))
    addTokens(one, other, piece.ids, found);
  else
    addVectors(one.data, other.data, one.rows * one.width, found);
  return true;
}

bool compareOnTexts(TextRunner &reference, TextRunner &model, const std::vector<TextPiece> &texts,
                    TextComparison &found, std::string &error) {
  found = TextComparison();
  for (const TextPiece &piece : texts)
    if (!compareOnText(reference, model, piece, found, error))
      return false;
  auto tokens = static_cast<double>(std::max<size_t>(found.tokens, 1));
  found.divergence /= tokens;
  found.referenceLoss /= tokens;
  found.loss /= tokens;
  found.meanCosine /= static_cast<double>(std::max<size_t>(found.texts, 1));
  return true;
}

} // namespace fovea::compile
