// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of an entry. A result's memory is its call's: a call is used again when nothing in Python
// refers to its results any longer, so that neither arguments nor results are copied.
#include "python/Tensors.h"

#include <atomic>

namespace fovea::python {

struct Entry::Slot {
  explicit Slot(std::shared_ptr<Context> context) : context(std::move(context)) {}
  ~Slot() { fovea_call_free(call); }
  Slot(const Slot &) = delete;
  Slot &operator=(const Slot &) = delete;

  std::shared_ptr<Context> context;
  fovea_call *call = nullptr;
  std::atomic<int> users{0}; ///< a run, and arrays of results
  uint64_t binding = 0;      ///< whose arguments are set
};

namespace {
/// What keeps an array's memory.
struct Lease {
  std::shared_ptr<void> slot;
  std::atomic<int> &users;
  ~Lease() { --users; }
};
} // namespace

Entry::Entry(std::shared_ptr<Context> context, const std::string &name)
    : context(std::move(context)), name(name) {
  fovea_module *module = this->context->module()->get();
  size_t number = 0;
  check(fovea_module_find_entry(module, name.c_str(), &number));
  fovea_entry_info info = FOVEA_ENTRY_INFO_INIT;
  check(fovea_module_get_entry(module, number, &info));
  check(fovea_context_get_step_count(this->context->get(), number, &steps));
  auto list = [&](auto get, size_t count, std::vector<Value> &values) {
    for (size_t i = 0; i < count; ++i) {
      Value value = FOVEA_VALUE_INFO_INIT;
      check(get(module, number, i, &value));
      if (!value.is_cache)
        values.push_back(value);
    }
  };
  list(fovea_module_get_argument, info.argument_count, arguments);
  list(fovea_module_get_result, info.result_count, results);
  bound.resize(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    open.push_back(i);
}

void Entry::bind(const std::vector<std::string> &names, const nb::tuple &values) {
  std::vector<Argument> read(arguments.size());
  for (size_t i = 0; i < names.size(); ++i) {
    size_t index = indexOf(names[i]);
    readArgument(name, arguments[index], values[i], read[index]);
  }
  bound = std::move(read);
  open.clear();
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!bound[i].array.is_valid())
      open.push_back(i);
  ++binding;
}

void Entry::setBound(Slot &slot) {
  if (slot.binding == binding)
    return;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (bound[i].array.is_valid())
      check(fovea_call_set_argument(slot.call, arguments[i].name, &bound[i].tensor));
  slot.binding = binding;
}

std::shared_ptr<Entry::Slot> Entry::take() {
  for (const std::shared_ptr<Slot> &slot : slots) {
    int none = 0;
    if (slot->users.compare_exchange_strong(none, 1))
      return slot;
  }
  auto slot = std::make_shared<Slot>(context);
  context->run([&] { return fovea_call_create(context->get(), name.c_str(), &slot->call); });
  slot->users = 1;
  slots.push_back(slot);
  return slot;
}

size_t Entry::indexOf(const std::string &argument) const {
  std::string known;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == argument)
      return i;
    known += (i ? ", " : "") + std::string(arguments[i].name);
  }
  raiseArgument(name, argument, "one of the entry's arguments: " + (known.empty() ? "none" : known),
                "another name");
}

std::vector<Argument> Entry::setArguments(Slot &slot, const nb::tuple &values,
                                          const nb::object &names) {
  std::vector<Argument> held(values.size());
  setBound(slot);
  if (names.is_none() && values.size() != open.size())
    raiseArgument(name, values.size() < open.size() ? arguments[open[values.size()]].name : "",
                  std::to_string(open.size()) + " arrays", std::to_string(values.size()));
  std::vector<bool> isSet(arguments.size());
  for (size_t i = 0; i < values.size(); ++i) {
    size_t index = names.is_none() ? open[i] : indexOf(nb::cast<std::string>(nb::str(names[i])));
    isSet[index] = true;
    readArgument(name, arguments[index], values[i], held[i]);
    check(fovea_call_set_argument(slot.call, arguments[index].name, &held[i].tensor));
  }
  for (size_t i : open)
    if (!isSet[i])
      raiseArgument(name, arguments[i].name, "an array", "none");
  return held;
}

nb::object Entry::wrap(const std::shared_ptr<Slot> &slot, const fovea_tensor &tensor, bool torch) {
  ++slot->users;
  auto *lease = new Lease{slot, slot->users};
  nb::capsule owner(lease, [](void *data) noexcept { delete static_cast<Lease *>(data); });
  std::vector<size_t> shape(tensor.shape, tensor.shape + tensor.ndim);
  nb::dlpack::dtype dtype = {tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes};
  int device = tensor.device.type, id = tensor.device.type == FOVEA_CPU ? 0 : tensor.device.id;
  if (torch)
    return nb::cast(nb::ndarray<nb::pytorch>(tensor.data, shape.size(), shape.data(), owner,
                                             nullptr, dtype, device, id));
  bool isBf16 = tensor.dtype.code == FOVEA_BFLOAT;
  if (isBf16)
    dtype = nb::dtype<uint16_t>();
  nb::object array = nb::cast(nb::ndarray<nb::numpy>(tensor.data, shape.size(), shape.data(), owner,
                                                     nullptr, dtype, device, id));
  if (!isBf16)
    return array;
  // Exact, and a copy: numpy itself has no such numbers.
  nb::object wide = array.attr("astype")("uint32");
  return (wide << nb::int_(16)).attr("view")("float32");
}

nb::object Entry::run(const nb::tuple &values, const nb::object &names, bool torch,
                      const nb::object &stream) {
  std::shared_ptr<Slot> slot = take();
  Lease running{slot, slot->users};
  std::vector<Argument> held = setArguments(*slot, values, names);
  fovea_run_options options = FOVEA_RUN_OPTIONS_INIT;
  if (!stream.is_none()) {
    options.results_on_device = 1;
    options.stream = reinterpret_cast<void *>(nb::cast<uintptr_t>(stream));
  }
  // Another thread's run cannot come between: results are the slot's own.
  context->run([&] { return fovea_call_run_with(slot->call, &options); });
  nb::list list;
  for (const Value &result : results) {
    const fovea_tensor *tensor = nullptr;
    check(fovea_call_get_result(slot->call, result.name, &tensor));
    list.append(wrap(slot, *tensor, torch));
  }
  return nb::tuple(list);
}

double Entry::measure(const nb::tuple &values, int64_t runs) {
  std::shared_ptr<Slot> slot = take();
  Lease running{slot, slot->users};
  std::vector<Argument> held = setArguments(*slot, values, nb::none());
  double seconds = 0;
  context->run([&] { return fovea_call_measure(slot->call, runs, &seconds); });
  return seconds;
}

nb::list Entry::profile() const {
  nb::list list;
  for (size_t step = 0; step < steps; ++step) {
    double sums[3] = {0, 0, 0};
    for (const std::shared_ptr<Slot> &slot : slots) {
      double seconds = 0, flops = 0, bytes = 0;
      check(fovea_call_get_step_time(slot->call, step, &seconds));
      check(fovea_call_get_step_cost(slot->call, step, &flops, &bytes));
      sums[0] += seconds;
      sums[1] = flops < 0 ? -1 : sums[1] + flops;
      sums[2] = bytes < 0 ? -1 : sums[2] + bytes;
    }
    list.append(nb::make_tuple(sums[0], sums[1], sums[2]));
  }
  return list;
}

} // namespace fovea::python
