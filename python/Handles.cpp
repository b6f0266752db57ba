// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Handles.h. A status becomes the exception of fovea.errors that is for its code.
#include "python/Handles.h"

namespace fovea::python {

/// By the names of fovea.errors.
static const char *exceptionOf(fovea_code code) {
  switch (code) {
  case FOVEA_INVALID:
    return "InputError";
  case FOVEA_UNSUPPORTED:
    return "UnsupportedError";
  case FOVEA_OUT_OF_MEMORY:
    return "OutOfMemoryError";
  default:
    return "InternalError";
  }
}

template <typename... Values>
[[noreturn]] static void raiseAs(const char *type, const Values &...values) {
  nb::object raised = nb::module_::import_("fovea.errors").attr(type)(values...);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(raised.ptr())), raised.ptr());
  throw nb::python_error();
}

void raise(fovea_code code, const std::string &message) {
  raiseAs(exceptionOf(code), message.c_str());
}

void raiseArgument(const std::string &entry, const std::string &argument,
                   const std::string &expected, const std::string &found) {
  raiseAs("ArgumentError", entry.c_str(), argument.c_str(), expected.c_str(), found.c_str());
}

void check(fovea_status *status) {
  if (!status)
    return;
  // A callback's exception is what ended the call.
  if (PyErr_Occurred()) {
    fovea_status_free(status);
    throw nb::python_error();
  }
  fovea_code code = fovea_status_code(status);
  std::string message = fovea_status_message(status);
  fovea_status_free(status);
  raise(code, message);
}

Module::Module(const std::string &path, bool copy) {
  fovea_module_options options = FOVEA_MODULE_OPTIONS_INIT;
  options.copy = copy;
  fovea_status *status = nullptr;
  {
    nb::gil_scoped_release released;
    status = fovea_module_open_with(path.c_str(), &options, &module);
  }
  check(status);
}

Context::Context(std::shared_ptr<Module> module, int32_t threads, int64_t capacity,
                 const std::string &device, bool profile)
    : theModule(std::move(module)) {
  fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
  options.threads = threads;
  options.capacity = capacity;
  options.profile = profile;
  options.device = device.c_str();
  fovea_status *status = nullptr;
  {
    nb::gil_scoped_release released;
    status = fovea_context_create(theModule->get(), &options, &context);
  }
  check(status);
}

} // namespace fovea::python
