// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JPEG by libjpeg-turbo, as Pillow calls it. An error there jumps back to the function that was
// entered from here, so these hold nothing that would have to be destroyed.
#include "tools/images/Picture.h"

#include <csetjmp>
#include <cstdio>
// They need size_t and FILE before.
#include <jerror.h>
#include <jpeglib.h>

namespace fovea::images {

namespace {

class JpegDecoder {
public:
  JpegDecoder() {
    state.err = jpeg_std_error(&errors);
    errors.error_exit = jumpBack;
    errors.emit_message = noteWarning;
    state.client_data = this;
  }
  JpegDecoder(const JpegDecoder &) = delete;
  JpegDecoder &operator=(const JpegDecoder &) = delete;
  ~JpegDecoder() { jpeg_destroy_decompress(&state); }

  /// Reads the header, and says which colours are wanted.
  bool begin(const std::string &file) {
    if (setjmp(back))
      return false;
    jpeg_create_decompress(&state);
    jpeg_mem_src(&state, reinterpret_cast<const unsigned char *>(file.data()), file.size());
    jpeg_read_header(&state, TRUE);
    height = state.image_height;
    width = state.image_width;
    isInks = state.num_components == 4;
    state.out_color_space = isInks ? JCS_CMYK : JCS_RGB;
    return true;
  }
  /// [height, width, 3], or of inks 4.
  bool readRows(uint8_t *to) {
    if (setjmp(back))
      return false;
    jpeg_start_decompress(&state);
    while (state.output_scanline < state.output_height) {
      JSAMPROW row = to + static_cast<size_t>(state.output_scanline) * width * (isInks ? 4 : 3);
      jpeg_read_scanlines(&state, &row, 1);
    }
    jpeg_finish_decompress(&state);
    return !isBroken;
  }

  uint64_t height = 0, width = 0;
  bool isInks = false; ///< Cyan, magenta, yellow and black, each from 255 (none) to 0.
  char message[JMSG_LENGTH_MAX] = "";

private:
  [[noreturn]] static void jumpBack(j_common_ptr state) {
    auto *self = static_cast<JpegDecoder *>(state->client_data);
    if (!self->isBroken)
      self->errors.format_message(state, self->message);
    std::longjmp(self->back, 1);
  }
  /// libjpeg goes on where data are missing or make no sense; nothing that counts is seen then.
  static void noteWarning(j_common_ptr state, int level) {
    auto *self = static_cast<JpegDecoder *>(state->client_data);
    int code = self->errors.msg_code;
    bool isHarmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_TOO_MUCH_DATA ||
                      code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM || code == JWRN_BOGUS_ICC;
    if (level >= 0 || isHarmless || self->isBroken)
      return;
    self->errors.format_message(state, self->message);
    self->isBroken = true;
    std::longjmp(self->back, 1);
  }

  jpeg_decompress_struct state = {};
  jpeg_error_mgr errors = {};
  bool isBroken = false;
  std::jmp_buf back;
};

/// a * b / 255, rounded as Pillow does.
int mulDiv255(int a, int b) {
  int product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

/// Inks as Adobe writes them, by the integers of Pillow's convert("RGB").
void convertInks(const uint8_t *from, uint8_t *to) {
  int white = from[3];
  for (int i = 0; i < 3; ++i)
    to[i] = static_cast<uint8_t>(white - mulDiv255(255 - from[i], white));
}

} // namespace

bool decodeJpeg(const std::string &file, Picture &picture, std::string &error) {
  JpegDecoder decoder;
  auto fail = [&] {
    error = std::string("is a broken JPEG file: ") + decoder.message;
    return false;
  };
  if (!decoder.begin(file))
    return fail();
  if (!checkSize(decoder.height, decoder.width, error))
    return false;
  Picture read(static_cast<int64_t>(decoder.height), static_cast<int64_t>(decoder.width),
               decoder.isInks ? 4 : 3);
  if (!decoder.readRows(read.bytes.data()))
    return fail();
  if (decoder.isInks) {
    picture = Picture(read.height, read.width, 3);
    for (int64_t y = 0; y < read.height; ++y)
      for (int64_t x = 0; x < read.width; ++x)
        convertInks(read.at(y, x), picture.at(y, x));
    return true;
  }
  picture = std::move(read);
  return true;
}

} // namespace fovea::images
