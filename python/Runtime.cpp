// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea._runtime: the C interface in Python. What people use is fovea/model.py, which calls it.
#include "python/Handles.h"

#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace fovea::python;

NB_MODULE(_runtime, module) {
  module.doc() = "The compiled model's runtime (fovea/runtime.h).";
  module.def("version", &fovea_version);
  nb::class_<Module> modules(module, "Module");
  modules.def(nb::init<const std::string &, bool>(), "path"_a, "copy"_a = false);
  nb::class_<Context> contexts(module, "Context");
  contexts.def(nb::init<std::shared_ptr<Module>, int32_t, int64_t, const std::string &, bool>(),
               "module"_a, "threads"_a = 0, "capacity"_a = 0, "device"_a = "cpu",
               "profile"_a = false);
  nb::class_<Entry>(module, "Entry")
      .def(nb::init<std::shared_ptr<Context>, const std::string &>(), "context"_a, "name"_a)
      .def("run", &Entry::run, "values"_a, "names"_a.none(), "torch"_a, "stream"_a.none())
      .def("bind", &Entry::bind, "names"_a, "values"_a)
      .def("profile", &Entry::profile)
      .def("measure", &Entry::measure, "values"_a, "runs"_a);
  addDescriptions(modules, contexts);
  addImages(modules);
  addTexts(modules, contexts);
}
