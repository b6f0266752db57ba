// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See the header. Texts are run one by one where they are not compared with something: nothing is
// padded, and what is said of a text does not depend on its neighbours.
#include "tools/verbs/Heads.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace fovea::verbs {

HeadModel::HeadModel(const Common &options, const char *verb)
    : options(options), verb(verb), module(options.open()) {
  info = infoOf(module);
}

void HeadModel::refuse(const std::string &why) const {
  throw Failure{1, options.file + ": cannot " + verb + ": " + why};
}

void HeadModel::requireTokenizer() const {
  if (!info.has_tokenizer)
    refuse("it has no tokenizer");
}

void HeadModel::chooseForward() {
  const char *name = findEntry(module, FOVEA_ENTRY_FORWARD);
  if (!name)
    refuse("it has no entry 'forward'");
  size_t number = 0;
  check(fovea_module_find_entry(module.get(), name, &number));
  choose(number);
}

void HeadModel::choose(size_t number) {
  check(fovea_module_get_entry(module.get(), number, &entry));
  arguments.clear();
  results.clear();
  for (size_t i = 0; i < entry.argument_count; ++i) {
    arguments.push_back(FOVEA_VALUE_INFO_INIT);
    check(fovea_module_get_argument(module.get(), number, i, &arguments.back()));
  }
  for (size_t i = 0; i < entry.result_count; ++i) {
    results.push_back(FOVEA_VALUE_INFO_INIT);
    check(fovea_module_get_result(module.get(), number, i, &results.back()));
  }
}

bool HeadModel::isOfText(const fovea_value_info &value) {
  bool isMade = value.role == FOVEA_ROLE_TOKEN_IDS || value.role == FOVEA_ROLE_ATTENTION_MASK ||
                value.role == FOVEA_ROLE_TOKEN_TYPES;
  return isMade && !value.is_cache && value.ndim == 2 && value.dtype.code == FOVEA_INT &&
         value.dtype.bits == 64;
}

TokenRow HeadModel::encode(const std::vector<std::string> &texts) const {
  std::vector<fovea_text> views;
  for (const std::string &text : texts)
    views.push_back({text.data(), text.size()});
  fovea_encoding encoding = FOVEA_ENCODING_INIT;
  check(fovea_module_encode_texts(module.get(), views.data(), views.size(),
                                  static_cast<size_t>(std::max<int64_t>(entry.max_positions, 0)),
                                  &encoding));
  std::unique_ptr<int64_t, void (*)(void *)> owner(encoding.ids, fovea_free);
  if (encoding.count == 0)
    throw Failure{1, "a text is empty, and the model adds no tokens"};
  if (encoding.cut && !options.quiet)
    note(*options.host, "a text is longer than the " + std::to_string(entry.max_positions) +
                            " tokens that the model takes and was cut");
  auto copy = [&](const int64_t *from) {
    return std::vector<int64_t>(from, from + encoding.count);
  };
  return {copy(encoding.ids), copy(encoding.types), copy(encoding.texts)};
}

const fovea_value_info *HeadModel::find(const char *name) const {
  for (const fovea_value_info &value : results)
    if (std::strcmp(value.name, name) == 0 ||
        (value.role == FOVEA_ROLE_LOGITS && std::strcmp("logits", name) == 0))
      return &value;
  return nullptr;
}

void HeadModel::require(const char *name, int32_t axes, const char *wanted) const {
  const fovea_value_info *value = find(name);
  if (!value || value->is_cache || value->ndim != axes || value->dtype.code != FOVEA_FLOAT ||
      value->dtype.bits != 32)
    refuse(std::string("expects ") + wanted + ", got " + info.architecture + ", whose entry '" +
           entry.name + "' gives no '" + name + "' of " + std::to_string(axes) + " axes in f32");
}

std::vector<std::string> HeadModel::requireLabels() const {
  int64_t count = width("logits");
  if (info.label_count == 0 || count != static_cast<int64_t>(info.label_count))
    refuse("its source does not name " +
           (count < 0 ? "labels" : "the " + std::to_string(count) + " labels"));
  std::vector<std::string> labels;
  for (size_t i = 0; i < info.label_count; ++i) {
    const char *label = nullptr;
    check(fovea_module_get_label(module.get(), i, &label));
    labels.emplace_back(label);
  }
  return labels;
}

int64_t HeadModel::width(const char *name) const {
  const fovea_value_info *value = find(name);
  return value && value->ndim > 0 ? value->shape[value->ndim - 1] : -1;
}

void HeadModel::set(const fovea_value_info &argument, const void *data,
                    std::vector<int64_t> shape) {
  if (!context)
    context = options.makeContext(module);
  if (!call) {
    fovea_call *made = nullptr;
    check(fovea_call_create(context.get(), entry.name, &made));
    call.reset(made);
  }
  fovea_tensor tensor = {};
  tensor.data = const_cast<void *>(data);
  tensor.device = {FOVEA_CPU, 0};
  tensor.dtype = argument.dtype;
  tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.shape = shape.data();
  check(fovea_call_set_argument(call.get(), argument.name, &tensor));
}

void HeadModel::setTokens(const std::vector<TokenRow> &rows) {
  size_t length = 0;
  for (const TokenRow &row : rows)
    length = std::max(length, row.ids.size());
  // Nobody sees what the mask hides; 0 is no text's greatest token.
  for (std::vector<int64_t> *values : {&tokenIds, &tokenTypes, &tokenMask})
    values->assign(rows.size() * length, 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i * length);
    std::copy(rows[i].ids.begin(), rows[i].ids.end(), tokenIds.begin() + at);
    std::copy(rows[i].types.begin(), rows[i].types.end(), tokenTypes.begin() + at);
    std::fill_n(tokenMask.begin() + at, rows[i].ids.size(), 1);
  }
  for (const fovea_value_info &argument : arguments) {
    if (!isOfText(argument))
      continue;
    const std::vector<int64_t> &values = argument.role == FOVEA_ROLE_TOKEN_IDS     ? tokenIds
                                         : argument.role == FOVEA_ROLE_TOKEN_TYPES ? tokenTypes
                                                                                   : tokenMask;
    set(argument, values.data(), {static_cast<int64_t>(rows.size()), static_cast<int64_t>(length)});
  }
}

void HeadModel::run() { check(fovea_call_run(call.get())); }

std::vector<double> HeadModel::result(const char *name) const {
  const fovea_tensor *tensor = nullptr;
  check(fovea_call_get_result(call.get(), find(name)->name, &tensor));
  int64_t count = 1;
  for (int32_t axis = 0; axis < tensor->ndim; ++axis)
    count *= tensor->shape[axis];
  const auto *data = static_cast<const float *>(tensor->data);
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(data[i]))
      refuse(std::string("'") + name + "' holds a number that is not finite");
  return {data, data + count};
}

void printJson(const Json &record) {
  print(record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string probability(double value) { return number(value, 4); }

std::vector<double> softmax(const double *first, size_t count) {
  std::vector<double> result(first, first + count);
  double most = *std::max_element(result.begin(), result.end()), sum = 0;
  for (double &value : result)
    sum += value = std::exp(value - most);
  for (double &value : result)
    value /= sum;
  return result;
}

std::vector<Scored> best(const std::vector<double> &scores, size_t count) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t(0));
  count = std::min(count, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](size_t a, size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  std::vector<Scored> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back({order[i], scores[order[i]]});
  return result;
}

} // namespace fovea::verbs
