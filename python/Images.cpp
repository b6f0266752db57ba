// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pictures as a model takes them, by the arithmetic that the command line has (tools/images).
// Refuses what is neither a PNG or JPEG file nor bytes [height, width, 3], and models whose source
// does not say how pictures are made ready.
#include "python/Handles.h"
#include "tools/images/Picture.h"

using namespace nanobind::literals;

namespace fovea::python {

/// A file's content, or an array of bytes.
static images::Picture readPicture(nb::handle given) {
  images::Picture picture;
  std::string error;
  if (nb::isinstance<nb::bytes>(given)) {
    nb::bytes file = nb::borrow<nb::bytes>(given);
    if (!images::decode(std::string(file.c_str(), file.size()), picture, error))
      raise(FOVEA_INVALID, error);
    return picture;
  }
  nb::ndarray<const uint8_t, nb::shape<-1, -1, 3>, nb::c_contig, nb::device::cpu> array;
  if (!nb::try_cast(given, array))
    raise(FOVEA_INVALID,
          std::string("expects a picture: a PNG or JPEG file, a picture of Pillow or "
                      "an array of bytes [height, width, 3], got an object of type ") +
              Py_TYPE(given.ptr())->tp_name);
  if (!images::checkSize(array.shape(0), array.shape(1), error))
    raise(FOVEA_INVALID, error);
  picture = images::Picture(static_cast<int64_t>(array.shape(0)),
                            static_cast<int64_t>(array.shape(1)), 3);
  picture.bytes.assign(array.data(), array.data() + array.size());
  return picture;
}

/// f32 [1, channels, height, width] of a picture; None if the model does not say how.
static nb::object prepareImage(const Module &module, nb::handle given, int64_t channels) {
  fovea_image_info settings = FOVEA_IMAGE_INFO_INIT;
  check(fovea_module_get_image_info(module.get(), &settings));
  if (!settings.is_known)
    return nb::none();
  images::Picture picture = readPicture(given), fitted;
  if (channels == 1)
    picture = images::makeGrey(picture);
  std::string error;
  if (channels != picture.channels)
    error = "expects 1 or 3 channels, got a model of " + std::to_string(channels);
  else
    images::fit(picture, settings, fitted, error);
  if (!error.empty())
    raise(FOVEA_INVALID, error);
  auto *numbers = new std::vector<float>(images::normalise(fitted, settings));
  nb::capsule owner(numbers,
                    [](void *data) noexcept { delete static_cast<std::vector<float> *>(data); });
  size_t shape[] = {1, static_cast<size_t>(channels), static_cast<size_t>(fitted.height),
                    static_cast<size_t>(fitted.width)};
  return nb::cast(nb::ndarray<nb::numpy, float>(numbers->data(), 4, shape, owner));
}

void addImages(nb::class_<Module> &module) {
  module.def("prepare_image", &prepareImage, "picture"_a, "channels"_a);
}

} // namespace fovea::python
