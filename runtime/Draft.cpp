// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Draft.h.
#include "runtime/Draft.h"

#include "runtime/status/Status.h"

#include <algorithm>

namespace fovea {

using manifest::EntryKind;
using manifest::Role;

std::vector<int64_t> LookupDraft::guess(const std::vector<int64_t> &tokens, size_t most) {
  for (size_t size : {3, 2}) {
    if (tokens.size() <= size)
      continue;
    auto last = tokens.end() - static_cast<ptrdiff_t>(size);
    // The latest place but the end itself.
    auto found = std::find_end(tokens.begin(), tokens.end() - 1, last, tokens.end());
    if (found == tokens.end() - 1)
      continue;
    auto begin = found + static_cast<ptrdiff_t>(size);
    auto count = std::min(most, static_cast<size_t>(tokens.end() - begin));
    return {begin, begin + static_cast<ptrdiff_t>(count)};
  }
  return {};
}

/// Whether every id stands for the same text; models may have rows that no token has.
static bool haveSameTokens(const Module &a, const Module &b) {
  const Tokenizer *left = a.tokenizer(), *right = b.tokenizer();
  if (!left || !right)
    return left == right &&
           a.manifest().model->vocabulary_size == b.manifest().model->vocabulary_size;
  auto count = static_cast<int32_t>(std::max(left->size(), right->size()));
  for (int32_t id = 0; id < count; ++id)
    if (left->tokenText(id) != right->tokenText(id))
      return false;
  return true;
}

Call ModelDraft::makeCall(EntryKind kind) const {
  int entry = context.module().findEntry(kind);
  if (entry < 0)
    failInvalid(context.module().path() + ": cannot draft text: it has no entries that write it");
  Call call(context, static_cast<size_t>(entry));
  for (const auto &value : call.entry().arguments)
    if (value->kind == manifest::ValueKind::Tensor && value.get() != call.argument(Role::TokenIds))
      failInvalid(context.module().path() + ": cannot draft text: entry '" + call.entry().name +
                  "' takes '" + value->name + "', which cannot be given");
  const manifest::ValueT *token = call.result(Role::NextToken);
  if (!call.argument(Role::TokenIds) || !(token || call.result(Role::Logits)))
    failInvalid(context.module().path() + ": cannot draft text: entry '" + call.entry().name +
                "' " + (call.argument(Role::TokenIds) ? "gives no logits" : "takes no token ids"));
  if (token)
    call.fetchOnly(token->name);
  return call;
}

ModelDraft::ModelDraft(Context &draft, const Module &module)
    : context(draft), prefill(makeCall(EntryKind::Prefill)), decode(makeCall(EntryKind::Decode)) {
  if (!haveSameTokens(draft.module(), module))
    failInvalid(draft.module().path() + ": cannot draft text: expects the tokens of " +
                module.path() + ", got another vocabulary");
}

int64_t ModelDraft::next(Call &call, const int64_t *ids, size_t count) {
  call.setArgument(call.argument(Role::TokenIds)->name, ids, {FOVEA_INT, 64, 1},
                   {1, static_cast<int64_t>(count)});
  std::vector<int64_t> held = std::move(context.held);
  call.run();
  held.insert(held.end(), ids, ids + count);
  context.held = std::move(held);
  const manifest::ValueT *token = call.result(Role::NextToken);
  const fovea_tensor &tensor = call.result((token ? token : call.result(Role::Logits))->name);
  const bool isToken = token && tensor.ndim == 1 && tensor.dtype.code == FOVEA_INT;
  const bool isLogits = !token && tensor.ndim == 2 && tensor.dtype.code == FOVEA_FLOAT;
  if (!(isToken && tensor.dtype.bits == 64) && !(isLogits && tensor.dtype.bits == 32))
    failInvalid(context.module().path() + ": entry '" + call.entry().name +
                "' expects next_token of type i64 and shape [batch], or logits of type f32 and "
                "shape [batch, vocabulary]");
  if (isToken)
    return *static_cast<const int64_t *>(tensor.data);
  const auto *logits = static_cast<const float *>(tensor.data);
  return std::max_element(logits, logits + tensor.shape[1]) - logits;
}

std::vector<int64_t> ModelDraft::guess(const std::vector<int64_t> &tokens, size_t most) {
  std::vector<int64_t> drafted;
  if (tokens.size() + most > static_cast<size_t>(context.capacity()))
    return drafted;
  // It may have fewer rows of padding behind the same tokens.
  const int64_t words = context.module().manifest().model->vocabulary_size;
  if (words > 0 && *std::max_element(tokens.begin(), tokens.end()) >= words)
    return drafted;
  auto [differs, place] =
      std::mismatch(context.held.begin(), context.held.end(), tokens.begin(), tokens.end() - 1);
  context.cut(static_cast<size_t>(differs - context.held.begin()));
  size_t held = context.held.size();
  int64_t token = -1;
  constexpr size_t chunk = 512;
  while (held < tokens.size()) {
    size_t count = std::min(chunk, tokens.size() - held);
    token = next(count == 1 ? decode : prefill, tokens.data() + held, count);
    held += count;
  }
  // What is no token of the model is not fed to it: -1 if a logit is NaN.
  while (token >= 0 && (words == 0 || token < words) && drafted.size() < most) {
    drafted.push_back(token);
    if (drafted.size() < most)
      token = next(decode, &drafted.back(), 1);
  }
  return drafted;
}

} // namespace fovea
