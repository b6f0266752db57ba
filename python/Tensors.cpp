// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Tensors.h. Frameworks are known by DLPack and the buffer protocol alone; of torch it is asked
// whether a tensor requires gradients, which DLPack would refuse in its own words.
#include "python/Tensors.h"

using namespace nanobind::literals;

namespace fovea::python {

std::string nameOf(fovea_dtype dtype) {
  std::string bits = std::to_string(dtype.bits);
  switch (dtype.code) {
  case FOVEA_INT:
    return "int" + bits;
  case FOVEA_UINT:
    return "uint" + bits;
  case FOVEA_FLOAT:
    return "float" + bits;
  case FOVEA_BFLOAT:
    return "bfloat" + bits;
  case FOVEA_BOOL:
    return "bool";
  default:
    return "DLPack's type " + std::to_string(dtype.code) + " of " + bits + " bits";
  }
}

/// Open sizes by their names.
static std::string textOf(const int64_t *shape, int32_t rank, const char *const *names) {
  std::string text = "[";
  for (int32_t i = 0; i < rank; ++i) {
    bool isOpen = shape[i] < 0;
    std::string name = isOpen && names && *names[i] ? names[i] : isOpen ? "?" : "";
    text += (i ? ", " : "") + (isOpen ? name : std::to_string(shape[i]));
  }
  return text + "]";
}

static std::string textOf(const int64_t *numbers, size_t count) {
  std::string text = "[";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + "]";
}

/// Whether `value` is a torch.Tensor; torch is not imported for that.
static bool isTorch(nb::handle value) {
  PyObject *modules = PyImport_GetModuleDict();
  PyObject *torch = PyDict_GetItemString(modules, "torch");
  if (!torch)
    return false;
  nb::object type = nb::getattr(nb::handle(torch), "Tensor", nb::none());
  return !type.is_none() && PyObject_IsInstance(value.ptr(), type.ptr()) == 1;
}

/// A list's or a number's array; numpy raises where a fraction would be lost.
static nb::object asArray(nb::handle value, const std::string &dtype) {
  nb::object array = nb::module_::import_("numpy").attr("asarray")(value);
  if (nb::cast<size_t>(array.attr("size")) == 0)
    return array.attr("astype")(dtype.c_str());
  return array.attr("astype")(dtype.c_str(), "casting"_a = "same_kind");
}

/// numpy has bf16 only as another package's type, which neither protocol can name: its bits as
/// integers.
static bool isForeignBf16(nb::handle value) {
  nb::object dtype = nb::getattr(value, "dtype", nb::none());
  return !dtype.is_none() && nb::hasattr(dtype, "name") &&
         nb::str(dtype.attr("name")).equal(nb::str("bfloat16"));
}

static void import(const std::string &entry, const Value &expected, nb::handle value,
                   Argument &argument) {
  auto refuse = [&](const std::string &what, const std::string &found) {
    raiseArgument(entry, expected.name, what, found);
  };
  nb::object held = nb::borrow(value);
  bool isPlain = PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) ||
                 PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr());
  bool isBf16 = false;
  if (isPlain) {
    try {
      held = asArray(value, nameOf(expected.dtype));
    } catch (nb::python_error &error) {
      std::string reason = nb::cast<std::string>(nb::str(error.value()));
      error.restore();
      PyErr_Clear();
      refuse("numbers of " + nameOf(expected.dtype), reason);
    }
  } else if (isTorch(value)) {
    if (nb::cast<bool>(value.attr("requires_grad")))
      refuse("a tensor without gradients (call .detach(), or run under torch.no_grad())",
             "one with requires_grad=True");
  } else if (isForeignBf16(value)) {
    held = value.attr("view")("uint16");
    isBf16 = true;
  }
  if (!nb::try_cast(held, argument.array))
    refuse("an array (numpy, torch, or anything with __dlpack__), a list or a number",
           std::string("an object of type ") + Py_TYPE(value.ptr())->tp_name);
  auto dtype = argument.array.dtype();
  argument.tensor.dtype = {isBf16 ? uint8_t(FOVEA_BFLOAT) : dtype.code, dtype.bits, dtype.lanes};
}

/// Whether elements follow each other row by row without gaps.
static bool isRowMajor(const nb::ndarray<nb::ro> &array) {
  int64_t step = 1;
  for (size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) == 0)
      return true;
    if (array.shape(i) != 1 && array.stride(i) != step)
      return false;
    step *= static_cast<int64_t>(array.shape(i));
  }
  return true;
}

void readArgument(const std::string &entry, const Value &expected, nb::handle value,
                  Argument &argument) {
  import(entry, expected, value, argument);
  const nb::ndarray<nb::ro> &array = argument.array;
  auto refuse = [&](const std::string &what, const std::string &found) {
    raiseArgument(entry, expected.name, what, found);
  };
  fovea_dtype found = argument.tensor.dtype, wanted = expected.dtype;
  if (found.code != wanted.code || found.bits != wanted.bits || found.lanes != wanted.lanes)
    refuse("elements of type " + nameOf(wanted), nameOf(found));
  for (size_t i = 0; i < array.ndim(); ++i)
    argument.shape.push_back(static_cast<int64_t>(array.shape(i)));
  bool fits = argument.shape.size() == static_cast<size_t>(expected.ndim);
  for (int32_t i = 0; fits && i < expected.ndim; ++i)
    fits = expected.shape[i] < 0 || expected.shape[i] == argument.shape[static_cast<size_t>(i)];
  if (!fits)
    refuse("shape " + textOf(expected.shape, expected.ndim, expected.dimensions),
           textOf(argument.shape.data(), argument.shape.size()));
  if (!isRowMajor(array))
    refuse("elements row by row without gaps (numpy.ascontiguousarray, or .contiguous() of torch)",
           "strides " + textOf(array.stride_ptr(), array.ndim()) + " of shape " +
               textOf(argument.shape.data(), argument.shape.size()));
  argument.tensor.data = array.data_handle();
  argument.tensor.byte_offset = array.byte_offset();
  argument.tensor.device = {array.device_type(), array.device_id()};
  argument.tensor.ndim = static_cast<int32_t>(array.ndim());
  argument.tensor.shape = argument.shape.data();
  argument.tensor.strides = nullptr;
}

} // namespace fovea::python
