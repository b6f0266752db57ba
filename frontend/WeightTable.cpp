// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hands out a checkpoint's tensors to a family, checking names, shapes and
// element types, and knows in the end which of them nobody asked for.
#include "frontend/WeightTable.h"

#include "frontend/Text.h"

#include <algorithm>

using namespace fovea;

/// Faulty tensors that are listed one by one; the rest is only counted, as a
/// configuration may ask for any number of layers.
static constexpr size_t maxListed = 100;

void WeightTable::choosePrefix(const std::vector<std::string> &prefixes, const std::string &probe) {
  chosenPrefix = prefixes.front();
  if (!source)
    return;
  for (const std::string &prefix : prefixes)
    if (source->find(prefix + probe)) {
      chosenPrefix = prefix;
      return;
    }
}

Weight WeightTable::weight(const std::string &name, std::vector<int64_t> shape, bool transposed,
                           const std::vector<std::string> &otherNames) {
  std::vector<std::string> names = {chosenPrefix + name};
  for (const std::string &other : otherNames)
    names.push_back(chosenPrefix + other);
  return find(names, std::move(shape), transposed);
}

Weight WeightTable::row(const std::string &name, int64_t size) {
  Weight result = find({name}, {1, size}, false);
  result.shape = {size};
  return result;
}

Weight WeightTable::find(const std::vector<std::string> &names, std::vector<int64_t> shape,
                         bool transposed) {
  Weight result;
  result.name = names.front();
  result.shape = shape;
  result.transposed = transposed;
  if (!source)
    return result;
  constexpr std::string_view ending = ".weight";
  for (const std::string &name : names) {
    PackedWeights::Fault fault;
    bool isMatrix = packed && shape.size() == 2 && endsWith(name, ending);
    if (!isMatrix ||
        !packed->find(*source, name.substr(0, name.size() - ending.size()), result, used, fault))
      continue;
    result.transposed = false; // is [out, in] once it is unpacked
    if (!fault.text.empty())
      report(names.front(), fault.tensor, fault.text);
    return result;
  }
  if (transposed)
    std::reverse(shape.begin(), shape.end());

  const StoredTensor *stored = nullptr;
  for (const std::string &name : names)
    if (!stored && (stored = source->find(name)))
      used.insert(name);
  std::string fault;
  if (!stored)
    fault = "is missing; expects shape " + printShape(shape);
  else if (stored->shape != shape)
    fault = "expects shape " + printShape(shape) + " as the configuration says, got " +
            printShape(stored->shape);
  else if (!isWeightType(stored->type) || (isBlockType(stored->type) && shape.size() < 2))
    fault = std::string("expects element type F32, F16 or BF16, got ") + nameOf(stored->type);
  if (fault.empty()) {
    result.stored = *stored;
    return result;
  }
  report(names.front(), stored ? stored->name : names.front(), fault);
  return result;
}

void WeightTable::report(const std::string &key, const std::string &tensor,
                         const std::string &fault) {
  const StoredTensor *stored = source->find(tensor);
  if (faulty.insert(key).second && faulty.size() <= maxListed)
    addError(problems, stored ? source->pathOf(*stored) : source->name(), "tensor " + quote(tensor),
             fault);
}

std::optional<StoredTensor> WeightTable::part(const std::string &name, ElementType type,
                                              const std::vector<int64_t> &shape) {
  const StoredTensor *stored = source ? source->find(name) : nullptr;
  if (!source)
    return std::nullopt;
  if (!stored)
    report(name, name, "is missing; expects shape " + printShape(shape));
  else if (used.insert(name); stored->shape != shape)
    report(name, name,
           "expects shape " + printShape(shape) + " as the configuration says, got " +
               printShape(stored->shape));
  else if (stored->type != type)
    report(name, name,
           std::string("expects element type ") + nameOf(type) + ", got " + nameOf(stored->type));
  else
    return *stored;
  return std::nullopt;
}

Weight WeightTable::mxfp4(const std::string &name, int64_t count, int64_t out, int64_t in) {
  constexpr int64_t block = 32;
  Weight result;
  result.name = chosenPrefix + name;
  result.shape = {count * out, in};
  auto codes = part(result.name + "_blocks", ElementType::U8, {count, out, in / block, block / 2});
  auto scales = part(result.name + "_scales", ElementType::U8, {count, out, in / block});
  if (in % block != 0)
    report(name, result.name + "_blocks",
           "expects rows of whole blocks of 32, got " + std::to_string(in) + " inputs");
  if (!codes || !scales)
    return result;
  result.stored = *codes;
  result.packing.emplace();
  result.packing->kind = Packing::Kind::Mxfp4;
  result.packing->group = block;
  result.packing->scales = *scales;
  return result;
}

void WeightTable::finish() {
  if (faulty.size() > maxListed)
    addError(problems, source->name(), "",
             "has " + std::to_string(faulty.size() - maxListed) +
                 " more tensors that are missing or have the wrong shape");
}

void WeightTable::reportUnused(const std::vector<std::string> &harmless) {
  if (!source)
    return;
  size_t listed = 0, more = 0;
  for (const StoredTensor *tensor : source->list()) {
    if (used.count(tensor->name) ||
        std::any_of(harmless.begin(), harmless.end(),
                    [&](const std::string &ending) { return endsWith(tensor->name, ending); }))
      continue;
    if (listed == maxListed) {
      ++more;
      continue;
    }
    ++listed;
    addNote(problems, source->pathOf(*tensor), "tensor " + quote(tensor->name), "is not used");
  }
  if (more)
    addNote(problems, source->name(), "",
            "has " + std::to_string(more) + " more tensors that are not used");
}
