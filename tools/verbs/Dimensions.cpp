// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Dimensions.h. Refuses names that no argument has, and sizes of which nothing can be made.
#include "tools/verbs/Dimensions.h"
#include "frontend/Nearest.h"

#include <algorithm>
#include <charconv>

namespace fovea::verbs {

/// The runtime says of an array what is too large; beyond this nothing fits a machine.
static constexpr int64_t kMostSize = int64_t(1) << 40;
/// What a hint proposes.
static constexpr int64_t kProposed = 128;

/// Token ids are [batch, sequence], whatever these are called.
static DimensionKind getKind(const fovea_value_info &value, int32_t axis) {
  std::string name = value.dimensions[axis];
  bool isOfIds = value.role == FOVEA_ROLE_TOKEN_IDS && value.ndim == 2;
  if (name == "batch" || (isOfIds && axis == 0))
    return DimensionKind::Batch;
  if (name == "sequence" || (isOfIds && axis == 1))
    return DimensionKind::Sequence;
  return DimensionKind::Other;
}

template <typename Hear> static void forEachNamed(const fovea_value_info &value, Hear hear) {
  for (int32_t axis = 0; axis < value.ndim; ++axis)
    if (value.shape[axis] < 0 && *value.dimensions[axis])
      hear(axis, value.dimensions[axis]);
}

void Dimensions::add(const ModulePtr &module, const std::string &entry) {
  size_t index = findEntryNamed(module, entry);
  fovea_entry_info info = FOVEA_ENTRY_INFO_INIT;
  verbs::check(fovea_module_get_entry(module.get(), index, &info));
  entries = entries.empty()
                ? "entry '" + entry + "'"
                : "entries" + entries.substr(entries.find(' ')) + " and '" + entry + "'";
  for (size_t i = 0; i < info.argument_count; ++i) {
    fovea_value_info value = FOVEA_VALUE_INFO_INIT;
    verbs::check(fovea_module_get_argument(module.get(), index, i, &value));
    if (value.is_cache)
      continue;
    arguments.push_back(value);
    forEachNamed(value, [&](int32_t axis, const std::string &name) {
      Dimension &dimension = all[name];
      dimension.isMade = true;
      if (dimension.kind == DimensionKind::Other)
        dimension.kind = getKind(value, axis);
    });
  }
}

std::vector<std::string> Dimensions::getNames() const {
  std::vector<std::string> names;
  for (const auto &[name, dimension] : all)
    names.push_back(name);
  return names;
}

std::string Dimensions::listNames() const {
  std::string text;
  for (const std::string &name : getNames())
    text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

void Dimensions::setSize(const std::string &word) {
  size_t equals = word.rfind('=');
  std::string place = "--dim " + word + ": ";
  int64_t size = 0;
  const char *end = word.data() + word.size();
  const char *begin = equals == std::string::npos ? end : word.data() + equals + 1;
  auto [stop, error] = std::from_chars(begin, end, size);
  if (equals == 0 || begin == end || stop != end || error == std::errc::invalid_argument)
    throw Failure{2, place + "expects NAME=SIZE"};
  if (error != std::errc() || size < 1 || size > kMostSize)
    throw Failure{2, place + "expects a size from 1 to " + std::to_string(kMostSize) + ", got " +
                         word.substr(equals + 1)};
  std::string name = word.substr(0, equals);
  auto found = all.find(name);
  if (found == all.end())
    throw Failure{2, place + "expects an open dimension of " + entries + ", which has " +
                         listNames() + didYouMean(name, getNames())};
  found->second.size = size;
}

void Dimensions::setKind(DimensionKind kind, int64_t size, bool isWanted,
                         const std::string &option) {
  bool isThere = false;
  for (auto &[name, dimension] : all) {
    if (dimension.kind != kind)
      continue;
    isThere = true;
    if (dimension.size >= 0)
      continue;
    dimension.size = size;
    if (!isWanted)
      defaults +=
          (defaults.empty() ? "" : ", ") + name + "=" + std::to_string(size) + " (" + option + ")";
  }
  if (isWanted && !isThere)
    throw Failure{2, option + ": expects an open dimension of this kind in " + entries +
                         ", which has " + listNames() + "; see --dim"};
}

void Dimensions::setFrom(const std::vector<Array> &given) {
  for (auto &[name, dimension] : all)
    dimension.isMade = false;
  for (const fovea_value_info &value : arguments) {
    auto array = std::find_if(given.begin(), given.end(),
                              [&](const Array &one) { return one.name == value.name; });
    forEachNamed(value, [&](int32_t axis, const std::string &name) {
      Dimension &dimension = all[name];
      if (array == given.end())
        dimension.isMade = true;
      else if (dimension.size < 0 && static_cast<size_t>(value.ndim) == array->shape.size())
        dimension.size = array->shape[static_cast<size_t>(axis)];
    });
  }
}

void Dimensions::check() const {
  std::string missing, hint;
  for (const auto &[name, dimension] : all)
    if (dimension.isMade && dimension.size < 0) {
      std::string word = name + "=" + std::to_string(kProposed);
      bool isPlain = word.find_first_of(" \t*()'\"$&|;<>?[]{}\\!#~`") == std::string::npos;
      missing += (missing.empty() ? "" : ", ") + name;
      hint += (hint.empty() ? "--dim " : " --dim ") + (isPlain ? word : "'" + word + "'");
    }
  if (!missing.empty())
    throw Failure{2, entries + ": expects sizes of " + missing, "for example: " + hint};
}

int64_t Dimensions::getSize(const std::string &name) const {
  auto found = all.find(name);
  return found == all.end() ? -1 : found->second.size;
}

int64_t Dimensions::getLongest(DimensionKind kind) const {
  int64_t longest = 0;
  for (const auto &[name, dimension] : all)
    if (dimension.kind == kind)
      longest = std::max(longest, dimension.size);
  return longest;
}

void Dimensions::change(DimensionKind kind, int64_t size) {
  for (auto &[name, dimension] : all)
    if (dimension.kind == kind)
      dimension.size = size;
}

} // namespace fovea::verbs
