// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Call.h. All that can be known to go wrong is found before the first step:
// types, sizes, equal names, positions, room in the caches.
#include "runtime/Call.h"

#include "runtime/status/Status.h"

#include <algorithm>

namespace fovea {

using manifest::ValueKind;
using manifest::ValueT;

Call::Call(Context &context, const std::string &entry)
    : Call(context, context.module().requireEntry(entry)) {}

Call::Call(Context &context, size_t entry)
    : theContext(context), entryIndex(entry),
      description(context.module().entries()[entryIndex].description),
      steps(&context.executor().steps(entry)), invocation(context.executor().invoke(entry)) {
  arguments.resize(description->arguments.size());
  results.resize(description->results.size());
  locals.resize(invocation->locals());
  buffers.resize(arguments.size() + results.size());
  if (context.profiled())
    seconds.resize(steps->size()), profiles.resize(seconds.size());
  newLengths.resize(results.size());
  resultBytes.resize(results.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueT &value = *description->arguments[i];
    for (size_t d = 0; d < value.dims.size(); ++d)
      if (value.kind == ValueKind::Tensor && !value.dims[d].empty())
        arguments[i].named.emplace_back(d, dimensionNumber(value.dims[d]));
  }
  // Caches after tensors: only a tensor gives a name its size.
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueT &value = *description->arguments[i];
    if (value.kind != ValueKind::Cache)
      continue;
    arguments[i].cache = &context.cache(value);
    for (size_t d = 0; d < bound.size() && !value.dims.empty(); ++d)
      if (bound[d].name == value.dims[0])
        arguments[i].batch = static_cast<int>(d);
  }
}

size_t Call::dimensionNumber(const std::string &name) {
  for (size_t i = 0; i < bound.size(); ++i)
    if (bound[i].name == name)
      return i;
  bound.push_back({name});
  return bound.size() - 1;
}

std::string Call::place(const ValueT &value) const {
  return "entry '" + description->name + "': argument '" + value.name + "'";
}

/// Where the tensor of that name is among an entry's values; `kind` is what they are.
static size_t indexOf(const manifest::EntryT &entry,
                      const std::vector<std::unique_ptr<ValueT>> &values, const std::string &kind,
                      const std::string &name) {
  std::string known;
  for (size_t i = 0; i < values.size(); ++i) {
    const ValueT &value = *values[i];
    if (value.name == name) {
      if (value.kind == ValueKind::Cache)
        failInvalid("entry '" + entry.name + "': " + kind + " '" + name +
                    "' is a cache; the context has it");
      return i;
    }
    if (value.kind == ValueKind::Tensor)
      known += (known.empty() ? "'" : ", '") + value.name + "'";
  }
  failInvalid("entry '" + entry.name + "' has no " + kind + " '" + name + "'; it has " +
              (known.empty() ? "none" : known));
}

size_t Call::argumentIndex(const std::string &name) const {
  return indexOf(*description, description->arguments, "argument", name);
}

size_t Call::resultIndex(const std::string &name) const {
  return indexOf(*description, description->results, "result", name);
}

static const ValueT *find(const std::vector<std::unique_ptr<ValueT>> &values, manifest::Role role) {
  for (const auto &value : values)
    if (value->role == role)
      return value.get();
  return nullptr;
}

const ValueT *Call::argument(manifest::Role role) const {
  return find(description->arguments, role);
}

const ValueT *Call::result(manifest::Role role) const { return find(description->results, role); }

void Call::checkPositions() const {
  int64_t longest = description->max_positions, past = 0;
  // A cache that is only read is another text's.
  for (const auto &value : description->results)
    if (value->kind == ValueKind::Cache)
      past = std::max(past, arguments[value->continues].cache->length);
  for (const Dimension &dimension : bound)
    if (longest > 0 && dimension.name == description->sequence && dimension.size > longest - past)
      failInvalid("entry '" + description->name +
                  "': " + (past ? std::to_string(past) + " cached and " : "") +
                  std::to_string(dimension.size) + " new positions are more than the " +
                  std::to_string(longest) + " that the model was made for");
}

/// Reads the results' sizes from `locals`, checks them, and gives them memory.
void Call::prepareResults() {
  const int64_t *local = locals.data() + 1;
  for (size_t i = 0; i < results.size(); ++i) {
    const ValueT &value = *description->results[i];
    auto where = [&] { return "entry '" + description->name + "': result '" + value.name + "'"; };
    if (value.kind == ValueKind::Cache) {
      const Cache &cache = *arguments[value.continues].cache;
      int64_t length = newLengths[i] = *local++;
      auto would = [&] {
        return "entry '" + description->name + "': cache '" + cache.name + "' would hold " +
               std::to_string(length) + " positions; ";
      };
      if (length < cache.length)
        failInternal(where() + " is shorter than the cache that it continues");
      if (length > cache.capacity)
        failInvalid(would() + "the context has room for " + std::to_string(cache.capacity));
      if (description->max_positions > 0 && length > description->max_positions)
        failInvalid(would() + "the model was made for " +
                    std::to_string(description->max_positions));
      continue;
    }
    Result &result = results[i];
    result.shape.assign(local, local + value.shape.size());
    local += value.shape.size();
    uint64_t bytes = 0;
    bool fits = artifact::tensorBytes(value.element, result.shape, bytes);
    for (size_t d = 0; d < result.shape.size(); ++d)
      fits = fits && (value.shape[d] == -1 || value.shape[d] == result.shape[d]);
    if (!fits)
      failInternal(where() + " expects shape " + shapeText(value.shape, value.dims) +
                   ", the code's plan gives " + shapeText(result.shape));
    resultBytes[i] = bytes;
    result.tensor = {nullptr,
                     resultsStay ? theContext.executor().number() : fovea_device{FOVEA_CPU, 0},
                     static_cast<int32_t>(result.shape.size()),
                     dtypeOf(value.element),
                     result.shape.data(),
                     nullptr,
                     0};
  }
  invocation->prepare(resultBytes, resultsStay, buffers.data() + arguments.size());
}

/// The plan found a slice outside of its tensor, a reshape of too few elements, a mask of other
/// sizes than its attention or the like.
void Call::failSizes() const {
  std::string text;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].cache)
      text += (text.empty() ? "" : ", ") + description->arguments[i]->name + " " +
              shapeText(arguments[i].shape);
  failInvalid(
      "entry '" + description->name +
      "': expects sizes that fit together and that its slices and reshapes can be taken of, got " +
      text);
}

void Call::run(const fovea_run_options &how) {
  RunOptions options;
  options.stepSeconds = seconds.empty() ? nullptr : seconds.data();
  resultsStay = how.results_on_device != 0;
  // What is on the host's side may change as soon as a run returns.
  options.waits = !how.stream || !resultsStay || !areAllThere();
  run(options, how.stream);
  if (!seconds.empty())
    addProfile();
}

double Call::measure(int64_t runs) {
  if (runs < 1)
    failInvalid("entry '" + description->name + "': expects at least one run, got " +
                std::to_string(runs));
  double all = 0;
  RunOptions options;
  options.runs = runs;
  options.seconds = &all;
  resultsStay = false;
  run(options, nullptr);
  return all / static_cast<double>(runs);
}

void Call::wait() {
  if (int64_t fault = invocation->wait()) {
    hasRun = false;
    failFault(fault);
  }
}

bool Call::areAllThere() const {
  return std::all_of(arguments.begin(), arguments.end(), [](const Argument &argument) {
    return argument.cache || argument.isThere || !argument.data;
  });
}

void Call::run(RunOptions options, void *stream) {
  hasRun = false;
  theContext.held.clear();
  OnStream on(theContext.executor(), stream);
  bindDimensions();
  checkPositions();
  collectSizes();
  std::fill(locals.begin(), locals.end(), 0);
  invocation->plan(sizes.data(), locals.data());
  if (locals[0] == -1)
    failSizes();
  if (locals[0] < 0)
    failInternal("entry '" + description->name + "': the code's plan gives an arena of " +
                 std::to_string(locals[0]) + " bytes");
  prepareResults();
  std::fill(seconds.begin(), seconds.end(), 0.0);
  if (int64_t fault = invocation->run(buffers.data(), locals.data(), options))
    failFault(fault);
  for (size_t i = 0; i < results.size(); ++i)
    if (const ValueT &value = *description->results[i]; value.kind == ValueKind::Cache)
      arguments[value.continues].cache->length = newLengths[i];
  hasRun = true;
}

/// Adds this run's times and costs. Place 0 among the locals is the arena's: no cost stands there.
void Call::addProfile() {
  for (size_t i = 0; i < profiles.size(); ++i) {
    const manifest::StepT &step = *(*steps)[i];
    profiles[i].seconds += seconds[i];
    for (auto [sum, place] : {std::make_pair(&profiles[i].flops, step.flops),
                              std::make_pair(&profiles[i].bytes, step.bytes)})
      *sum = place == 0 ? -1 : *sum + static_cast<double>(locals[place]);
  }
}

/// Says which kernel met the index, and which argument is likely to hold it.
void Call::failFault(int64_t fault) const {
  auto step = static_cast<size_t>(fault - 1);
  if (fault < 1 || step >= steps->size())
    failInternal("entry '" + description->name + "': the code records a fault in step " +
                 std::to_string(fault - 1) + " of " + std::to_string(steps->size()));
  const auto &at = *(*steps)[step];
  std::string message =
      "entry '" + description->name + "': kernel '" + theContext.executor().kernel(at).name + "'";
  if (!at.location.empty())
    message += " (" + at.location + ")";
  message += " met an index or a size out of bounds";
  // Only integers that the caller gave can be out of bounds.
  int64_t words = theContext.module().manifest().model->vocabulary_size;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueT &value = *description->arguments[i];
    if (value.kind != ValueKind::Tensor || value.element != manifest::ElementType::I64 ||
        arguments[i].isThere)
      continue;
    bool tokens = words > 0 && value.role == manifest::Role::TokenIds;
    int64_t count = 1;
    for (int64_t size : arguments[i].shape)
      count *= size;
    const auto *data = static_cast<const int64_t *>(arguments[i].data);
    for (int64_t j = 0; tokens && j < count; ++j)
      if (data[j] < 0 || data[j] >= words)
        failInvalid(message + ": argument '" + value.name + "' expects token ids from 0 to " +
                    std::to_string(words - 1) + ", got " + std::to_string(data[j]) +
                    " at element " + std::to_string(j));
  }
  std::string integers;
  for (const auto &value : description->arguments)
    if (value->kind == ValueKind::Tensor && (value->element == manifest::ElementType::I64 ||
                                             value->element == manifest::ElementType::I32))
      integers += (integers.empty() ? "'" : ", '") + value->name + "'";
  failInvalid(message + (integers.empty() ? "" : "; look at the values of " + integers));
}

const fovea_tensor &Call::describe(const std::string &name) const {
  size_t index = resultIndex(name);
  if (!hasRun)
    failInvalid("entry '" + description->name + "' has not been run");
  return results[index].tensor;
}

const fovea_tensor &Call::result(const std::string &name) {
  describe(name);
  size_t index = resultIndex(name);
  results[index].tensor.data =
      resultsStay ? buffers[arguments.size() + index] : invocation->fetch(index);
  return results[index].tensor;
}

void Call::fetchOnly(const std::string &name) { invocation->fetchOnly(resultIndex(name)); }

} // namespace fovea
