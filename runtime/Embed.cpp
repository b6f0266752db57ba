// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One vector for each text, by the entry of an encoder that embeds. Texts of similar
// length share a call; shorter rows are filled and masked, an eighth of a call at
// most. Refuses models without that entry.
#include "runtime/Call.h"
#include "runtime/status/Status.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace fovea {

namespace {

using manifest::Role;

/// Rows of one call; more bring nothing and cost memory.
constexpr size_t rowsOfACall = 32;
/// Positions up to which a call is so short that filling it costs less than another one.
constexpr size_t shortCall = 256;

class Embedding {
public:
  explicit Embedding(Context &context) : context(context), module(context.module()), call(make()) {}

  /// Returns vectors of `width` numbers, one after the other; the caller frees.
  float *run(const fovea_text *texts, size_t count, size_t &width, size_t &cut) {
    tokenize(texts, count, cut);
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::make_pair(rows[a].ids.size(), a) < std::make_pair(rows[b].ids.size(), b);
    });
    float *out = nullptr;
    width = 0;
    try {
      for (size_t first = 0, batch = 0; first < count; first += batch) {
        batch = countRows(order.data() + first, count - first);
        const fovea_tensor &tensor = embed(order.data() + first, batch);
        if (!out) {
          width = static_cast<size_t>(tensor.shape[1]);
          out = static_cast<float *>(std::calloc(count * width + 1, sizeof(float)));
          if (!out)
            throw std::bad_alloc();
        }
        const auto *data = static_cast<const float *>(tensor.data);
        for (size_t i = 0; i < batch; ++i)
          std::memcpy(out + order[first + i] * width, data + i * width, width * sizeof(float));
      }
    } catch (...) {
      std::free(out);
      throw;
    }
    return out;
  }

private:
  /// How many of the next texts, the shortest first, are one call.
  size_t countRows(const size_t *numbers, size_t left) const {
    size_t batch = 1, tokens = rows[numbers[0]].ids.size();
    for (; batch < std::min(left, rowsOfACall); ++batch) {
      size_t length = rows[numbers[batch]].ids.size(), positions = length * (batch + 1);
      if (positions > shortCall && positions * 8 > (tokens + length) * 9)
        break;
      tokens += length;
    }
    return batch;
  }

  Call make() {
    int entry = module.findEntry(manifest::EntryKind::Embed);
    if (entry < 0)
      failInvalid(module.path() + ": cannot embed texts: it has no entry 'embed' (" +
                  (module.manifest().model->kind == manifest::ModelKind::Encoder
                       ? "its source does not say how to pool; use run"
                       : "it is not an encoder with pooling") +
                  ")");
    Call made(context, static_cast<size_t>(entry));
    auto place = [&] {
      return module.path() + ": cannot embed texts: entry '" + made.entry().name + "' ";
    };
    for (const auto &value : made.entry().arguments) {
      bool isMade = value->role == Role::TokenIds || value->role == Role::AttentionMask ||
                    value->role == Role::TokenTypes;
      if (!isMade || made.argument(value->role) != value.get())
        failInvalid(place() + "takes '" + value->name + "', which cannot be made from a text");
    }
    if (!made.result(Role::Embedding))
      failInvalid(place() + "gives no embedding");
    return made;
  }

  void tokenize(const fovea_text *texts, size_t count, size_t &cut) {
    const manifest::ModelInfoT &model = *module.manifest().model;
    const Tokenizer &tokenizer = module.requireTokenizer();
    int64_t longest = 0; // 0: nothing bounds it
    for (int64_t bound : {model.max_text_tokens, model.max_positions, call.entry().max_positions})
      if (bound > 0)
        longest = longest > 0 ? std::min(longest, bound) : bound;
    for (size_t i = 0; i < count; ++i) {
      if (!texts[i].data && texts[i].size)
        failInvalid("text " + std::to_string(i) + " is NULL");
      std::string_view text(texts[i].data ? texts[i].data : "", texts[i].size);
      Tokenizer::Encoding row = tokenizer.encodeSingle(text, true);
      if (longest > 0 && row.ids.size() > static_cast<size_t>(longest)) {
        row = tokenizer.encodeSingle(text, true, static_cast<size_t>(longest));
        ++cut;
      }
      if (row.ids.empty())
        failInvalid("text " + std::to_string(i) + " is empty, and the model adds no tokens");
      rows.push_back(std::move(row));
    }
  }

  const fovea_tensor &embed(const size_t *numbers, size_t batch) {
    size_t length = 1;
    for (size_t i = 0; i < batch; ++i)
      length = std::max(length, rows[numbers[i]].ids.size());
    int64_t padding = std::max<int64_t>(module.manifest().model->padding_token, 0);
    ids.assign(batch * length, padding);
    mask.assign(batch * length, 0);
    types.assign(batch * length, 0);
    for (size_t i = 0; i < batch; ++i) {
      const Tokenizer::Encoding &row = rows[numbers[i]];
      for (size_t j = 0; j < row.ids.size(); ++j) {
        ids[i * length + j] = row.ids[j];
        mask[i * length + j] = 1;
        types[i * length + j] = j < row.typeIds.size() ? row.typeIds[j] : 0;
      }
    }
    set(Role::TokenIds, ids, batch, length);
    set(Role::AttentionMask, mask, batch, length);
    set(Role::TokenTypes, types, batch, length);
    call.run();
    const fovea_tensor &tensor = call.result(call.result(Role::Embedding)->name);
    if (tensor.ndim != 2 || tensor.shape[0] != static_cast<int64_t>(batch) ||
        tensor.dtype.code != FOVEA_FLOAT || tensor.dtype.bits != 32)
      failInvalid(module.path() + ": entry '" + call.entry().name +
                  "' expects a result of type f32 and shape [batch, size]");
    return tensor;
  }

  void set(Role role, const std::vector<int64_t> &values, size_t batch, size_t length) {
    if (const manifest::ValueT *argument = call.argument(role))
      call.setArgument(argument->name, values.data(), {FOVEA_INT, 64, 1},
                       {static_cast<int64_t>(batch), static_cast<int64_t>(length)});
  }

  Context &context;
  const Module &module;
  Call call;
  std::vector<Tokenizer::Encoding> rows;
  std::vector<int64_t> ids, mask, types;
};

} // namespace
} // namespace fovea

fovea_status *fovea_embed(fovea_context *context, const fovea_text *texts, size_t count,
                          float **vectors, size_t *width, size_t *cut) {
  return fovea::guarded([&] {
    if (!context || (count && !texts) || !vectors || !width)
      fovea::failInvalid("context, texts, vectors or width is NULL");
    *vectors = nullptr;
    size_t shortened = 0;
    *vectors = fovea::Embedding(context->context).run(texts, count, *width, shortened);
    if (cut)
      *cut = shortened;
  });
}
