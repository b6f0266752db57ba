// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads WAV files. Nothing is allocated from a number that the file's size does not back.
#include "tools/verbs/Files.h"
#include "tools/verbs/Sound.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fovea::verbs {

namespace {

constexpr uint16_t maxChannels = 256;
constexpr uint32_t minRate = 1000, maxRate = 1u << 20;
/// A size that a writer to a pipe did not know: what follows is all of it.
constexpr uint32_t unknownSize = 0xFFFFFFFF;

struct Bad {
  std::string message;
};

/// What a `fmt ` chunk says.
struct Format {
  enum Kind : uint16_t { Integers = 1, Floats = 3, Extensible = 0xFFFE };
  uint16_t kind = 0, channels = 0, bits = 0;
  uint32_t rate = 0;

  size_t bytes() const { return bits / 8u; }
};

template <typename T> T load(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// A piece of a file, by its four letters.
struct Chunk {
  std::string name;
  const char *data;
  size_t size;
};

class Reader {
public:
  explicit Reader(const std::string &file) : file(file) {}

  Sound read() {
    if (file.size() < 12 || file.compare(8, 4, "WAVE") != 0 || file.compare(0, 4, "RIFF") != 0)
      throw Bad{"expects a WAV file, got " + describe() +
                "; ffmpeg -i FILE -ar 16000 -ac 1 OUT.wav makes one of most sound"};
    at = 12;
    bool hasFormat = false;
    while (true) {
      Chunk chunk = next();
      if (chunk.name == "fmt ") {
        readFormat(chunk);
        hasFormat = true;
      } else if (chunk.name == "data") {
        if (!hasFormat)
          throw Bad{"expects a chunk 'fmt ' before 'data'"};
        return readSamples(chunk);
      }
    }
  }

private:
  std::string describe() const {
    if (file.size() < 12)
      return "a file of " + std::to_string(file.size()) + " bytes";
    if (file.compare(8, 4, "WAVE") == 0 &&
        (file.compare(0, 4, "RIFX") == 0 || file.compare(0, 4, "RF64") == 0))
      return "a file of type " + file.substr(0, 4);
    return "other bytes at its beginning";
  }

  Chunk next() {
    if (file.size() - at < 8)
      throw Bad{"ends at byte " + std::to_string(file.size()) + " without a chunk 'data'"};
    Chunk chunk{file.substr(at, 4), file.data() + at + 8, load<uint32_t>(file.data() + at + 4)};
    size_t rest = file.size() - at - 8;
    if (chunk.name == "data" && chunk.size == unknownSize)
      chunk.size = rest;
    if (chunk.size > rest)
      throw Bad{"chunk at byte " + std::to_string(at) + " goes past the end: expects " +
                std::to_string(chunk.size) + " bytes, got " + std::to_string(rest)};
    // Chunks begin at even places.
    at = std::min(file.size(), at + 8 + chunk.size + chunk.size % 2);
    return chunk;
  }

  void readFormat(const Chunk &chunk) {
    if (chunk.size < 16)
      throw Bad{"chunk 'fmt ' expects 16 bytes or more, got " + std::to_string(chunk.size)};
    format.kind = load<uint16_t>(chunk.data);
    format.channels = load<uint16_t>(chunk.data + 2);
    format.rate = load<uint32_t>(chunk.data + 4);
    auto frame = load<uint16_t>(chunk.data + 12);
    format.bits = load<uint16_t>(chunk.data + 14);
    if (format.kind == Format::Extensible) {
      if (chunk.size < 40)
        throw Bad{"chunk 'fmt ' expects 40 bytes of an extensible format, got " +
                  std::to_string(chunk.size)};
      // Formats with a number have it in front of these bytes.
      constexpr char kNumbered[] = "\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71";
      if (std::memcmp(chunk.data + 26, kNumbered, 14) != 0)
        throw Bad{"expects integers or floats, got an extensible format without a number"};
      format.kind = load<uint16_t>(chunk.data + 24);
    }
    bool isKnown = (format.kind == Format::Integers && (format.bits == 8 || format.bits == 16 ||
                                                        format.bits == 24 || format.bits == 32)) ||
                   (format.kind == Format::Floats && (format.bits == 32 || format.bits == 64));
    if (!isKnown)
      throw Bad{"expects integers of 8, 16, 24 or 32 bits or floats of 32 or 64 (formats 1 and 3), "
                "got format " +
                std::to_string(format.kind) + " of " + std::to_string(format.bits) + " bits"};
    if (format.channels < 1 || format.channels > maxChannels)
      throw Bad{"expects 1 to " + std::to_string(maxChannels) + " channels, got " +
                std::to_string(format.channels)};
    if (format.rate < minRate || format.rate > maxRate)
      throw Bad{"expects " + std::to_string(minRate) + " to " + std::to_string(maxRate) +
                " samples a second, got " + std::to_string(format.rate)};
    if (frame != format.channels * format.bytes())
      throw Bad{"expects " + std::to_string(format.channels * format.bytes()) +
                " bytes for a sample of all channels, got " + std::to_string(frame)};
  }

  double sample(const char *from) const {
    if (format.kind == Format::Floats)
      return format.bits == 32 ? load<float>(from) : load<double>(from);
    if (format.bits == 8)
      return (static_cast<uint8_t>(*from) - 128) / 128.0;
    // In the high bytes of an i32, whose sign is the number's.
    int32_t number = 0;
    std::memcpy(reinterpret_cast<char *>(&number) + (4 - format.bytes()), from, format.bytes());
    return number / 2147483648.0;
  }

  Sound readSamples(const Chunk &chunk) const {
    size_t frame = format.channels * format.bytes();
    if (chunk.size % frame != 0)
      throw Bad{"chunk 'data' expects a multiple of " + std::to_string(frame) + " bytes, got " +
                std::to_string(chunk.size)};
    Sound sound;
    sound.rate = format.rate;
    sound.samples.resize(chunk.size / frame);
    for (size_t i = 0; i < sound.samples.size(); ++i) {
      double sum = 0;
      for (size_t channel = 0; channel < format.channels; ++channel)
        sum += sample(chunk.data + i * frame + channel * format.bytes());
      auto mean = static_cast<float>(sum / format.channels);
      if (!std::isfinite(mean))
        throw Bad{"sample " + std::to_string(i) + " is not a finite number"};
      sound.samples[i] = mean;
    }
    return sound;
  }

  const std::string &file;
  size_t at = 0;
  Format format;
};

} // namespace

bool readWav(const std::string &path, Sound &sound, std::string &error) {
  std::string file;
  if (!(path == "-" ? readFile(path, file, error) : readRegularFile(path, file, error)))
    return false;
  try {
    sound = Reader(file).read();
  } catch (const Bad &bad) {
    error = path + ": " + bad.message;
    return false;
  }
  return true;
}

} // namespace fovea::verbs
