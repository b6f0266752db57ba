// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a picture file is, and a picture as a model's source asks for it.
#include "tools/images/Picture.h"

#include <algorithm>

namespace fovea::images {

bool decode(const std::string &file, Picture &picture, std::string &error) {
  if (file.compare(0, 8, "\x89PNG\r\n\x1a\n") == 0)
    return decodePng(file, picture, error);
  if (file.compare(0, 3, "\xff\xd8\xff") == 0)
    return decodeJpeg(file, picture, error);
  error = "expects a PNG or JPEG file, or an array in a .npy file";
  return false;
}

bool checkSize(uint64_t height, uint64_t width, std::string &error) {
  if (height > 0 && width > 0 && height <= maxPixels / width)
    return true;
  error = "expects from 1 to " + std::to_string(maxPixels) + " pixels, got " +
          std::to_string(width) + " x " + std::to_string(height);
  return false;
}

Picture makeGrey(const Picture &picture) {
  Picture result(picture.height, picture.width, 1);
  for (int64_t y = 0; y < picture.height; ++y)
    for (int64_t x = 0; x < picture.width; ++x) {
      const uint8_t *from = picture.at(y, x);
      // ITU-R 601-2, in units of 2^-16.
      uint32_t sum = from[0] * 19595u + from[1] * 38470u + from[2] * 7471u + 0x8000u;
      *result.at(y, x) = static_cast<uint8_t>(sum >> 16);
    }
  return result;
}

Picture cropCentre(const Picture &picture, int64_t height, int64_t width) {
  Picture result(height, width, picture.channels);
  // Of an odd rest a larger picture loses the more below and on the right, a smaller one gets the
  // more above and on the left.
  auto offset = [](int64_t have, int64_t want) {
    return have >= want ? (have - want) / 2 : -((want - have + 1) / 2);
  };
  const int64_t top = offset(picture.height, height), left = offset(picture.width, width);
  const int64_t begin = std::max<int64_t>(0, -left), end = std::min(width, picture.width - left);
  for (int64_t y = 0; y < height; ++y)
    if (y + top >= 0 && y + top < picture.height)
      std::copy_n(picture.at(y + top, begin + left), (end - begin) * picture.channels,
                  result.at(y, begin));
  return result;
}

bool fit(const Picture &picture, const fovea_image_info &settings, Picture &result,
         std::string &error) {
  int64_t height = settings.resize_height, width = settings.resize_width;
  if (const int64_t edge = settings.shortest_edge) {
    // As transformers computes it, in floating point.
    auto longer = [&](int64_t length, int64_t shorter) {
      return static_cast<int64_t>(static_cast<double>(edge * length) /
                                  static_cast<double>(shorter));
    };
    bool isTall = picture.width <= picture.height;
    height = isTall ? longer(picture.height, picture.width) : edge;
    width = isTall ? edge : longer(picture.width, picture.height);
  }
  if (height && !checkSize(static_cast<uint64_t>(height), static_cast<uint64_t>(width), error))
    return false;
  result = height ? resize(picture, height, width, settings.filter) : picture;
  if (settings.crop_height)
    result = cropCentre(result, settings.crop_height, settings.crop_width);
  return true;
}

std::vector<float> normalise(const Picture &picture, const fovea_image_info &settings) {
  std::vector<float> result(picture.bytes.size());
  const auto pixels = static_cast<size_t>(picture.height * picture.width),
             channels = static_cast<size_t>(picture.channels);
  for (size_t c = 0; c < channels; ++c) {
    const auto mean = static_cast<float>(settings.mean[c]),
               deviation = static_cast<float>(settings.deviation[c]);
    for (size_t i = 0; i < pixels; ++i) {
      auto value = static_cast<float>(picture.bytes[i * channels + c] * settings.scale);
      result[c * pixels + i] = (value - mean) / deviation;
    }
  }
  return result;
}

} // namespace fovea::images
