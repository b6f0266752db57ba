// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PNG by libpng. An error there jumps back to the function that was entered from here, so these
// hold nothing that would have to be destroyed.
#include "tools/images/Picture.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <png.h>

namespace fovea::images {

namespace {

class PngDecoder {
public:
  explicit PngDecoder(const std::string &file) : file(file) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, jumpBack, ignoreWarning);
    info = png ? png_create_info_struct(png) : nullptr;
    if (info)
      png_set_read_fn(png, this, giveBytes);
  }
  PngDecoder(const PngDecoder &) = delete;
  PngDecoder &operator=(const PngDecoder &) = delete;
  ~PngDecoder() { png_destroy_read_struct(&png, &info, nullptr); }

  /// Reads the header, and says how rows are wanted.
  bool begin() {
    if (!info || setjmp(back))
      return false;
    png_read_info(png, info);
    height = png_get_image_height(png, info);
    width = png_get_image_width(png, info);
    bool isGrey16 =
        png_get_bit_depth(png, info) == 16 && png_get_color_type(png, info) == PNG_COLOR_TYPE_GRAY;
    if (png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE)
      png_set_palette_to_rgb(png);
    else if (png_get_bit_depth(png, info) < 8)
      png_set_expand_gray_1_2_4_to_8(png);
    if (png_get_valid(png, info, PNG_INFO_tRNS) && !isGrey16)
      png_set_tRNS_to_alpha(png);
    if (!isGrey16)
      png_set_strip_16(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    rowBytes = png_get_rowbytes(png, info);
    channels = isGrey16 ? 0 : png_get_channels(png, info);
    return true;
  }
  bool readRows(uint8_t **rows) {
    if (setjmp(back))
      return false;
    png_read_image(png, rows);
    return true;
  }

  uint64_t height = 0, width = 0, rowBytes = 0;
  int channels = 0; ///< 0: one of two bytes.
  char message[160] = "is no memory";

private:
  [[noreturn]] static void jumpBack(png_structp png, png_const_charp what) {
    auto *self = static_cast<PngDecoder *>(png_get_error_ptr(png));
    std::snprintf(self->message, sizeof(message), "%s", what);
    std::longjmp(self->back, 1);
  }
  static void ignoreWarning(png_structp, png_const_charp) {}
  static void giveBytes(png_structp png, png_bytep to, size_t count) {
    auto *self = static_cast<PngDecoder *>(png_get_io_ptr(png));
    if (count > self->file.size() - self->position)
      png_error(png, "the file ends early");
    std::memcpy(to, self->file.data() + self->position, count);
    self->position += count;
  }

  const std::string &file;
  size_t position = 0;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::jmp_buf back;
};

/// One channel over white, by the integers of Pillow's alpha_composite.
uint8_t overWhite(uint8_t value, uint8_t alpha) {
  if (alpha == 0)
    return 255;
  uint32_t share = alpha * 128u;
  uint32_t sum = value * share + 255u * (255u * 128u - share) + (128u << 7);
  return static_cast<uint8_t>((((sum >> 8) + sum) >> 8) >> 7);
}

/// The pixel `from` of so many channels as red, green and blue.
void convert(const uint8_t *from, int channels, uint8_t *to) {
  if (channels == 0) {
    uint8_t grey = from[0] ? 255 : from[1]; // cut, not scaled
    std::fill_n(to, 3, grey);
    return;
  }
  bool hasAlpha = channels % 2 == 0;
  for (int i = 0; i < 3; ++i) {
    uint8_t value = from[channels < 3 ? 0 : i];
    to[i] = hasAlpha ? overWhite(value, from[channels - 1]) : value;
  }
}

} // namespace

bool decodePng(const std::string &file, Picture &picture, std::string &error) {
  PngDecoder decoder(file);
  auto fail = [&] {
    error = std::string("is a broken PNG file: ") + decoder.message;
    return false;
  };
  if (!decoder.begin())
    return fail();
  if (!checkSize(decoder.height, decoder.width, error))
    return false;
  std::vector<uint8_t> raw(decoder.height * decoder.rowBytes);
  std::vector<uint8_t *> rows(decoder.height);
  for (size_t y = 0; y < rows.size(); ++y)
    rows[y] = raw.data() + y * decoder.rowBytes;
  if (!decoder.readRows(rows.data()))
    return fail();
  picture = Picture(static_cast<int64_t>(decoder.height), static_cast<int64_t>(decoder.width), 3);
  const int size = decoder.channels ? decoder.channels : 2;
  for (int64_t y = 0; y < picture.height; ++y)
    for (int64_t x = 0; x < picture.width; ++x)
      convert(rows[static_cast<size_t>(y)] + x * size, decoder.channels, picture.at(y, x));
  return true;
}

} // namespace fovea::images
