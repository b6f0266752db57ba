// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the Python module holds of the C interface: modules, contexts and calls, each alive as long
// as anything that came of it.
#ifndef FOVEA_PYTHON_HANDLES_H
#define FOVEA_PYTHON_HANDLES_H

#include "runtime/include/fovea/runtime.h"

#include <memory>
#include <mutex>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <string>
#include <vector>

namespace fovea::python {

namespace nb = nanobind;

/// Raises the exception of fovea.errors that is for such a status; the GIL is held.
[[noreturn]] void raise(fovea_code code, const std::string &message);
/// Raises fovea.ArgumentError; the GIL is held.
[[noreturn]] void raiseArgument(const std::string &entry, const std::string &argument,
                                const std::string &expected, const std::string &found);
/// Frees the status; the GIL is held.
void check(fovea_status *status);

class Module {
public:
  Module(const std::string &path, bool copy);
  ~Module() { fovea_module_free(module); }
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;
  fovea_module *get() const { return module; }

private:
  fovea_module *module = nullptr;
};

class Context {
public:
  Context(std::shared_ptr<Module> module, int32_t threads, int64_t capacity,
          const std::string &device, bool profile);
  ~Context() { fovea_context_free(context); }
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;
  fovea_context *get() const { return context; }
  const std::shared_ptr<Module> &module() const { return theModule; }

  /// Runs `work` without the GIL, while no other thread uses this context, and checks its status.
  template <typename Work> void run(const Work &work) {
    fovea_status *status = nullptr;
    {
      nb::gil_scoped_release released;
      std::lock_guard<std::mutex> alone(mutex);
      status = work();
    }
    check(status);
  }

private:
  std::shared_ptr<Module> theModule;
  fovea_context *context = nullptr;
  std::mutex mutex;
};

/// An array of Python, kept while the runtime reads it.
struct Argument {
  nb::ndarray<nb::ro> array;
  std::vector<int64_t> shape;
  fovea_tensor tensor{};
};

/// What the runtime tells of an argument or a result, its strings as long-lived as the module.
using Value = fovea_value_info;

/// An entry, run in a context. What a run gives stays as it is for as long as anything refers to
/// it: the next run uses another call then.
class Entry {
public:
  Entry(std::shared_ptr<Context> context, const std::string &name);

  /// Takes an array for each argument in `names`, or of each in order if that is None, and gives a
  /// tuple of the results' arrays. `torch`: they are torch's, not numpy's. `stream`: a cudaStream_t
  /// for a context on CUDA, where results then stay.
  nb::object run(const nb::tuple &values, const nb::object &names, bool torch,
                 const nb::object &stream);
  /// These arguments are the same for all runs from now on, which then take the others alone.
  void bind(const std::vector<std::string> &names, const nb::tuple &values);
  /// Of all calls: seconds, operations and bytes of each step, for a context that profiles.
  nb::list profile() const;
  /// Mean seconds of one of `runs` runs, without planning and copies.
  double measure(const nb::tuple &values, int64_t runs);

private:
  struct Slot;
  std::shared_ptr<Slot> take();
  void setBound(Slot &slot);
  /// What it gives is to be kept until the run is done.
  std::vector<Argument> setArguments(Slot &slot, const nb::tuple &values, const nb::object &names);
  size_t indexOf(const std::string &name) const;
  nb::object wrap(const std::shared_ptr<Slot> &slot, const fovea_tensor &tensor, bool torch);

  std::shared_ptr<Context> context;
  std::string name;
  std::vector<Value> arguments, results; ///< without caches
  size_t steps = 0;
  std::vector<Argument> bound; ///< for each argument; without an array where it is given with a run
  std::vector<size_t> open;    ///< the numbers of those
  uint64_t binding = 0;        ///< how often that changed
  std::vector<std::shared_ptr<Slot>> slots;
};

void addDescriptions(nb::class_<Module> &module, nb::class_<Context> &context);
void addImages(nb::class_<Module> &module);
void addTexts(nb::class_<Module> &module, nb::class_<Context> &context);

} // namespace fovea::python

#endif // FOVEA_PYTHON_HANDLES_H
