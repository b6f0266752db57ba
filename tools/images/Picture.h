// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pictures from files, and what a model's source asks of them: the arithmetic of Pillow and of
// transformers' image processors on it, bit by bit, so that a model sees what it was trained with.
#ifndef FOVEA_TOOLS_IMAGES_PICTURE_H
#define FOVEA_TOOLS_IMAGES_PICTURE_H

#include "runtime/include/fovea/runtime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::images {

/// Bytes [height, width, channels].
struct Picture {
  int64_t height = 0, width = 0, channels = 3;
  std::vector<uint8_t> bytes;

  Picture() = default;
  Picture(int64_t height, int64_t width, int64_t channels)
      : height(height), width(width), channels(channels),
        bytes(static_cast<size_t>(height * width * channels)) {}
  uint8_t *at(int64_t y, int64_t x) { return bytes.data() + (y * width + x) * channels; }
  const uint8_t *at(int64_t y, int64_t x) const {
    return bytes.data() + (y * width + x) * channels;
  }
};

/// No picture has more pixels, as Pillow refuses them: 178,956,970.
constexpr uint64_t maxPixels = 178956970;

/// The red, green and blue of a PNG or JPEG file, which its first bytes tell. Where there is alpha,
/// over white; 16 bits lose the low ones, but of greys, which Pillow cuts at 255. The turn that
/// EXIF notes is not made. False, and `error` says why, if the file is neither, broken or cut
/// short.
bool decode(const std::string &file, Picture &picture, std::string &error);
bool decodePng(const std::string &file, Picture &picture, std::string &error);
bool decodeJpeg(const std::string &file, Picture &picture, std::string &error);
/// False, and `error` says so, if a picture has none or more pixels than may be.
bool checkSize(uint64_t height, uint64_t width, std::string &error);

/// `height` x `width` pixels by Pillow's Image.resize.
Picture resize(const Picture &picture, int64_t height, int64_t width, fovea_image_filter filter);
/// One channel, as Pillow's convert("L").
Picture makeGrey(const Picture &picture);
/// Cuts or fills with zeros on all sides, as transformers' center_crop.
Picture cropCentre(const Picture &picture, int64_t height, int64_t width);

/// Resized and cropped as `settings` ask for. False, and `error` says why, if a narrow picture
/// would become larger than any may be.
bool fit(const Picture &picture, const fovea_image_info &settings, Picture &result,
         std::string &error);
/// Numbers [channels, height, width]: (pixel * scale - mean) / deviation.
std::vector<float> normalise(const Picture &picture, const fovea_image_info &settings);

} // namespace fovea::images

#endif // FOVEA_TOOLS_IMAGES_PICTURE_H
