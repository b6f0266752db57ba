// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Continues texts with a decoder model: prompts in chunks through the entry of kind prefill, then
// token by token through that of kind decode. Greedily it takes the token that the entry gives,
// which from a device is all that is fetched. Refuses models without a prefill, and what
// WrittenText refuses.
//
// Several texts are rows of one step. Rows have no padding: all that caches hold has one length. So
// texts begin in the order of their prompts' lengths, and a text joins the others when they have
// become as long as its prompt.
//
// Tokens that were guessed are checked by one step of the entry that gives the logits of all
// positions (Leviathan et al. 2023). Its numbers are those of one token after the other to the bit,
// so a text is the same with guesses as without, however its tokens are chosen.
#include "runtime/Call.h"
#include "runtime/Draft.h"
#include "runtime/GivenTokens.h"
#include "runtime/StructSize.h"
#include "runtime/WrittenText.h"
#include "runtime/status/Status.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace fovea {

namespace {

using Clock = std::chrono::steady_clock;
using manifest::EntryKind;
using manifest::Role;
using manifest::ValueT;

/// The most tokens that are checked at once: code computes so many queries one by one.
constexpr size_t kMostChecked = 8;
/// A step of keys. Sums over many keys are made of parts that begin at such places, in number and
/// size by how many keys there are: tokens are checked together that are in one step.
constexpr size_t kKeys = 64;

class Generation {
public:
  Generation(Context &context, const std::vector<const fovea_generate_options *> &all)
      : context(context), module(context.module()),
        prefill(makeCall(EntryKind::Prefill, "prefill")) {
    if (module.findEntry(EntryKind::Decode) >= 0)
      decode.emplace(makeCall(EntryKind::Decode, "decode"));
    texts.reserve(all.size());
    for (const fovea_generate_options *options : all)
      texts.emplace_back(context, *options);
    bool tokenAlone = std::all_of(texts.begin(), texts.end(),
                                  [](const WrittenText &text) { return text.wantsTokenAlone(); });
    for (Call *call : {&prefill, decode ? &*decode : nullptr})
      if (call && tokenAlone)
        if (const ValueT *token = call->result(Role::NextToken))
          call->fetchOnly(token->name);
    if (texts.size() == 1)
      takeDraft(texts.front().options);
  }

  /// Writes all texts, up to `most` at once.
  void run(size_t most) {
    try {
      std::vector<WrittenText *> order;
      for (WrittenText &text : texts)
        order.push_back(&text);
      std::sort(order.begin(), order.end(), [](WrittenText *a, WrittenText *b) {
        return std::make_pair(a->prompt.size(), a) < std::make_pair(b->prompt.size(), b);
      });
      for (size_t first = 0; first < order.size(); first += most)
        write({order.begin() + static_cast<ptrdiff_t>(first),
               order.begin() + static_cast<ptrdiff_t>(std::min(first + most, order.size()))});
      if (texts.size() > 1)
        context.reset(); // whose rows nobody asked for
    } catch (const NotANumber &failure) {
      std::string weight = module.findNotFinite();
      if (weight.empty())
        throw;
      failInvalid(module.path() + ": " + failure.message + ": weight '" + weight +
                  "' holds NaN or infinity");
    }
  }

  std::vector<WrittenText> texts;

private:
  /// A text that goes on, and its token that is not read yet.
  struct Row {
    WrittenText *text;
    Clock::time_point begin; ///< of its first token's choice
    int64_t token = 0;
  };
  using Rows = std::vector<Row>;

  Call makeCall(EntryKind kind, const char *name) {
    int entry = module.findEntry(kind);
    if (entry < 0)
      failInvalid(module.path() + ": cannot generate text: it has no entry '" + name + "' (" +
                  (module.manifest().model->kind == manifest::ModelKind::Encoder
                       ? "it is an encoder; use embed or run"
                       : "use run") +
                  ")");
    Call call(context, static_cast<size_t>(entry));
    auto place = [&] {
      return module.path() + ": cannot generate text: entry '" + call.entry().name + "' ";
    };
    const ValueT *ids = call.argument(Role::TokenIds);
    for (const auto &value : call.entry().arguments)
      if (value->kind == manifest::ValueKind::Tensor && value.get() != ids)
        failInvalid(place() + "takes '" + value->name + "', which generation cannot give");
    if (!ids || !call.result(Role::Logits))
      failInvalid(place() + (ids ? "gives no logits" : "takes no token ids"));
    return call;
  }

  void takeDraft(const fovea_generate_options &options) {
    if (!options.draft && !options.draft_lookup)
      return;
    if (options.draft_tokens < 1 || options.draft_tokens >= static_cast<int32_t>(kMostChecked))
      failInvalid("draft_tokens expects 1 to " + std::to_string(kMostChecked - 1) + ", got " +
                  std::to_string(options.draft_tokens));
    auto fail = [&](const std::string &why) {
      failInvalid(module.path() + ": cannot check drafts: " + why);
    };
    if (context.executor().number().type != FOVEA_CPU)
      fail("expects a context on the CPU, got " + context.executor().name() +
           ", whose kernels of several tokens round otherwise than those of one");
    auto refuse = [&](const char *instructions, const char *target) {
      fail(std::string("its code multiplies several rows by ") + instructions +
           ", which rounds otherwise than products of one; compile it with --target=" + target);
    };
    for (const std::string &feature : module.manifest().cpu_features)
      if (feature == "amx-bf16")
        refuse("AMX", "x86-64-v4");
      else if (feature == "bf16")
        refuse("BFMMLA", "aarch64-dotprod");
    for (const auto &entry : module.manifest().entries)
      if (checksTokens(*entry))
        verify.emplace(context, entry->name);
    if (!verify)
      fail("it has no entry that takes tokens and caches and gives the logits of all positions, as "
           "'verify' of a checkpoint that is compiled by this version does");
    if (options.draft && &options.draft->context == &context)
      fail("the draft's context is its own");
    if (options.draft)
      draft = std::make_unique<ModelDraft>(options.draft->context, module);
    else
      draft = std::make_unique<LookupDraft>();
  }

  /// Whether an entry reads tokens behind those in the caches, and gives the logits of all.
  bool checksTokens(const manifest::EntryT &entry) const {
    size_t tensors = 0;
    bool takesIds = false, givesAll = false;
    for (const auto &value : entry.arguments) {
      tensors += value->kind == manifest::ValueKind::Tensor;
      takesIds |=
          value->role == Role::TokenIds && value->shape.size() == 2 && value->shape[1] == -1;
    }
    for (const auto &value : entry.results)
      givesAll |= value->role == Role::Logits && value->shape.size() == 3 &&
                  value->shape[1] == -1 && value->element == manifest::ElementType::F32;
    return takesIds && givesAll && tensors == 1 &&
           entry.arguments.size() == prefill.entry().arguments.size();
  }

  /// Guesses of what follows a token that is not read yet: so many that all are in one step of
  /// keys, have room, and are wanted.
  std::vector<int64_t> guess(const Row &row) {
    size_t length = context.held.size() + 1, left = row.text->left();
    size_t most = std::min(static_cast<size_t>(row.text->options.draft_tokens), left - 1);
    most = std::min({most, static_cast<size_t>(context.capacity()) - length,
                     length % kKeys ? kKeys - 1 - length % kKeys : 0});
    std::vector<int64_t> tokens = context.held;
    tokens.push_back(row.token);
    std::vector<int64_t> guesses;
    if (most)
      guesses = draft->guess(tokens, most);
    // Another model's ids may go beyond this one's.
    auto unknown = std::find_if(guesses.begin(), guesses.end(),
                                [&](int64_t id) { return static_cast<size_t>(id) >= words; });
    guesses.erase(unknown, guesses.end());
    return guesses;
  }

  /// Reads a text's last token and guesses of the next, and takes its tokens as long as these are
  /// what was guessed, and one more. What is not of the text leaves the caches.
  void check(Rows &rows, std::vector<int64_t> ids) {
    WrittenText &text = *rows.front().text;
    size_t before = context.held.size(), taken = 0;
    bool isRight = true;
    text.result.draft_tokens += ids.size() - 1;
    feed(*verify, ids, 1);
    while (isRight && taken < ids.size() && !rows.empty()) {
      rowOfLogits = {static_cast<int64_t>(taken++)};
      isFull = before + taken + 1 > static_cast<size_t>(context.capacity());
      choose(rows);
      isRight = !rows.empty() && taken < ids.size() && rows.front().token == ids[taken];
      text.result.accepted_tokens += isRight;
    }
    context.cut(before + taken);
    if (context.held.size() != before + taken)
      failInternal("entry '" + verify->entry().name + "' does not continue the caches of '" +
                   prefill.entry().name + "'");
  }

  /// These texts, in the order of their prompts' lengths.
  void write(const std::vector<WrittenText *> &order) {
    Rows rows;
    size_t next = 0;
    while (next < order.size() || !rows.empty()) {
      while (next < order.size() && (rows.empty() || isAsLong(*order[next]))) {
        size_t end = next;
        while (end < order.size() && order[end]->prompt.size() == order[next]->prompt.size())
          ++end;
        begin({order.begin() + static_cast<ptrdiff_t>(next),
               order.begin() + static_cast<ptrdiff_t>(end)},
              rows);
        next = end;
      }
      if (rows.empty())
        continue;
      std::vector<int64_t> ids;
      for (const Row &row : rows)
        ids.push_back(row.token);
      if (draft) {
        std::vector<int64_t> guesses = guess(rows.front());
        ids.insert(ids.end(), guesses.begin(), guesses.end());
        if (!guesses.empty()) {
          check(rows, std::move(ids));
          continue;
        }
      }
      feed(decode ? *decode : prefill, ids, rows.size());
      choose(rows);
    }
  }

  /// Whether what the caches hold has the length of its prompt.
  bool isAsLong(const WrittenText &text) const {
    return static_cast<int64_t>(text.prompt.size()) == context.length();
  }

  /// Reads the prompts of some texts, which are of one length, and puts those that go on behind
  /// `rows`.
  void begin(const std::vector<WrittenText *> &group, Rows &rows) {
    std::vector<Cache> others;
    size_t done = 0;
    if (!rows.empty())
      others = context.takeCaches();
    else if (texts.size() == 1)
      done = keepCaches(*group.front());
    else
      context.reset();
    Rows added;
    for (WrittenText *text : group)
      added.push_back({text, Clock::now()});
    readPrompts(added, done);
    for (Row &row : added) {
      row.text->result.cached_tokens = done;
      row.text->result.prompt_seconds = secondsSince(row.begin);
      row.begin = Clock::now();
    }
    choose(added);
    if (!rows.empty())
      context.putBefore(std::move(others), !added.empty());
    rows.insert(rows.end(), added.begin(), added.end());
  }

  /// How many tokens of the prompt the caches hold; at least the last one is read, for its logits.
  size_t keepCaches(const WrittenText &text) {
    if (!text.options.keep_caches) {
      context.reset();
      return 0;
    }
    size_t common = 0;
    while (common + 1 < text.prompt.size() && common < context.held.size() &&
           context.held[common] == text.prompt[common])
      ++common;
    context.cut(common);
    return context.held.size();
  }

  void readPrompts(Rows &rows, size_t done) {
    size_t total = rows.front().text->prompt.size(), chunk = SIZE_MAX;
    for (const Row &row : rows)
      chunk = std::min(chunk, row.text->chunk());
    while (done < total && !rows.empty()) {
      size_t count = std::min(chunk, total - done);
      std::vector<int64_t> ids;
      for (const Row &row : rows)
        ids.insert(ids.end(), row.text->prompt.begin() + static_cast<ptrdiff_t>(done),
                   row.text->prompt.begin() + static_cast<ptrdiff_t>(done + count));
      feed(prefill, ids, rows.size());
      done += count;
      keep(rows, [&](Row &row) -> std::optional<fovea_stop> {
        return row.text->tellPrompt(done) ? std::nullopt : std::optional(FOVEA_STOP_CALLBACK);
      });
    }
  }

  /// Takes the next token of each by the last call's logits.
  void choose(Rows &rows) {
    keep(rows, [&](Row &row) -> std::optional<fovea_stop> {
      WrittenText &text = *row.text;
      if (text.isFull())
        return FOVEA_STOP_COUNT;
      row.token = chooseToken(text, rowOfLogits[static_cast<size_t>(&row - rows.data())]);
      std::optional<fovea_stop> stop = text.write(row.token);
      return stop || !isFull ? stop : FOVEA_STOP_CONTEXT;
    });
  }

  /// Ends the texts for which `end` gives a reason; the others are the rows from then on.
  template <typename End> void keep(Rows &rows, End end) {
    std::vector<int64_t> kept, logits;
    Rows left;
    for (size_t i = 0; i < rows.size(); ++i) {
      Row &row = rows[i];
      if (std::optional<fovea_stop> stop = end(row)) {
        row.text->finish(*stop);
        row.text->result.new_seconds = secondsSince(row.begin);
        continue;
      }
      kept.push_back(static_cast<int64_t>(i));
      logits.push_back(rowOfLogits[i]);
      left.push_back(row);
    }
    if (left.size() == rows.size())
      return;
    if (!left.empty())
      context.selectRows(caches(), kept);
    rows = std::move(left);
    rowOfLogits = std::move(logits);
  }

  /// The caches of the steps.
  std::vector<const ValueT *> caches() const {
    std::vector<const ValueT *> result;
    for (const auto &value : prefill.entry().arguments)
      if (value->kind == manifest::ValueKind::Cache)
        result.push_back(value.get());
    return result;
  }

  /// The next tokens of each of `rows`, one row's behind the other's.
  void feed(Call &call, const std::vector<int64_t> &ids, size_t rows) {
    call.setArgument(call.argument(Role::TokenIds)->name, ids.data(), {FOVEA_INT, 64, 1},
                     {static_cast<int64_t>(rows), static_cast<int64_t>(ids.size() / rows)});
    std::vector<int64_t> held = std::move(context.held);
    call.run(); // which clears it: what other calls feed is not known
    if (texts.size() == 1) {
      held.insert(held.end(), ids.begin(), ids.end());
      context.held = std::move(held);
    }
    isFull = context.length() + 1 > context.capacity();
    const fovea_tensor &tensor = call.describe(nameOfLogits(call));
    const int32_t axes = &call == (verify ? &*verify : nullptr) ? 3 : 2;
    if (tensor.ndim != axes || tensor.shape[0] != static_cast<int64_t>(rows) ||
        (axes == 3 && tensor.shape[1] != static_cast<int64_t>(ids.size() / rows)) ||
        tensor.shape[axes - 1] < 1 || tensor.dtype.code != FOVEA_FLOAT || tensor.dtype.bits != 32)
      failInvalid(module.path() + ": entry '" + call.entry().name +
                  "' expects logits of type f32 and shape [batch, vocabulary]");
    words = static_cast<size_t>(tensor.shape[axes - 1]);
    last = &call;
    rowOfLogits.resize(rows);
    for (size_t i = 0; i < rows; ++i)
      rowOfLogits[i] = static_cast<int64_t>(i);
  }

  static const std::string &nameOfLogits(const Call &call) {
    return call.result(Role::Logits)->name;
  }
  float *logitsOf(int64_t row) {
    return static_cast<float *>(last->result(nameOfLogits(*last)).data) +
           static_cast<size_t>(row) * words;
  }

  int64_t chooseToken(WrittenText &text, int64_t row) {
    const ValueT *token = text.isGreedy() ? last->result(Role::NextToken) : nullptr;
    if (text.options.on_logprobs)
      text.noteLogits(logitsOf(row), words);
    return token ? readToken(token->name, row) : text.choose(logitsOf(row), words);
  }

  /// The place of the greatest logit, as the entry says it: only where it is none are logits read.
  int64_t readToken(const std::string &name, int64_t row) {
    const fovea_tensor &tensor = last->result(name);
    if (tensor.ndim != 1 || tensor.shape[0] <= row || tensor.dtype.code != FOVEA_INT ||
        tensor.dtype.bits != 64)
      failInvalid(module.path() + ": entry '" + last->entry().name +
                  "' expects next_token of type i64 and shape [batch]");
    int64_t token = static_cast<const int64_t *>(tensor.data)[row];
    if (token < 0 || static_cast<size_t>(token) >= words)
      Sampler::failToken(logitsOf(row), words, token);
    return token;
  }

  Context &context;
  const Module &module;
  Call prefill;
  std::optional<Call> decode;
  std::optional<Call> verify;       ///< if there are drafts
  std::unique_ptr<Draft> draft;     ///< null: none
  Call *last = nullptr;             ///< that was run
  std::vector<int64_t> rowOfLogits; ///< of each row, in the last call's
  size_t words = 0;
  bool isFull = false; ///< whether there is no room for another token
};

} // namespace
} // namespace fovea

fovea_status *fovea_generate(fovea_context *context, const fovea_generate_options *options,
                             fovea_generate_result *result) {
  return fovea_generate_texts(context, &options, 1, 1, &result);
}

fovea_status *fovea_generate_texts(fovea_context *context,
                                   const fovea_generate_options *const *options, size_t count,
                                   int32_t most, fovea_generate_result *const *results) {
  using namespace fovea;
  return guarded([&] {
    if (!context || (count && (!options || !options[0])))
      failInvalid("context or options is NULL");
    if (most < 1)
      failInvalid("expects at least one text at once, got " + std::to_string(most));
    std::vector<fovea_generate_options> own;
    std::vector<const fovea_generate_options *> all;
    own.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      if (!options[i])
        failInvalid("the options of text " + std::to_string(i) + " are NULL");
      own.push_back(takeStruct(options[i], fovea_generate_options FOVEA_GENERATE_OPTIONS_INIT));
      all.push_back(&own.back());
      if (count > 1 && (own.back().keep_caches || own.back().draft || own.back().draft_lookup))
        failInvalid(std::string(own.back().keep_caches ? "keep_caches" : "draft") +
                    " expects one text, got " + std::to_string(count));
      if (results && results[i])
        checkStructSize(*results[i]);
    }
    Generation generation(context->context, all);
    generation.run(static_cast<size_t>(most));
    for (size_t i = 0; results && i < count; ++i)
      if (results[i])
        giveStruct(generation.texts[i].result, results[i]);
  });
}
