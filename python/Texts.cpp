// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts: tokens, chats, generation, translation, vectors.
#include "python/Handles.h"

#include <functional>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>
#include <optional>

using namespace nanobind::literals;

namespace fovea::python {

namespace {

/// What a callback of Python's raised, which ends the text.
struct Raised {
  std::optional<nb::python_error> error;

  /// Runs `work` with the GIL; 1 if it raised or gave a true value.
  int call(const std::function<nb::object()> &work) {
    nb::gil_scoped_acquire acquired;
    try {
      return nb::cast<bool>(nb::bool_(work()));
    } catch (nb::python_error &raised) {
      error.emplace(raised);
      return 1;
    }
  }
  void rethrow() {
    if (error)
      throw nb::python_error(*error);
  }
};

template <typename T> void read(const nb::dict &given, const char *name, T &value) {
  if (given.contains(name))
    value = nb::cast<T>(given[name]);
}

/// A text, or token ids.
class Source {
public:
  void read(nb::handle given) {
    if (nb::isinstance<nb::str>(given))
      text = nb::cast<std::string>(given);
    else
      ids = nb::cast<std::vector<int64_t>>(given);
  }
  /// Puts one of both into options, which have null for the other.
  void set(const char *&data, size_t &size, const int64_t *&first, size_t &count) const {
    data = text ? text->data() : nullptr;
    size = text ? text->size() : 0;
    first = ids.data();
    count = ids.size();
  }

private:
  std::optional<std::string> text;
  std::vector<int64_t> ids;
};

std::vector<fovea_text> viewsOf(const std::vector<std::string> &texts) {
  std::vector<fovea_text> views;
  for (const std::string &text : texts)
    views.push_back({text.data(), text.size()});
  return views;
}

/// Options of generation, and what they point to.
struct Generation {
  fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
  Source prompt;
  std::vector<std::string> stops;
  std::vector<fovea_text> stopTexts;
  nb::object onPiece, onLogprobs;
  Raised raised;

  explicit Generation(const nb::dict &given);
  void setCallbacks();
};

} // namespace

Generation::Generation(const nb::dict &given) {
  prompt.read(given["prompt"]);
  prompt.set(options.prompt, options.prompt_size, options.prompt_ids, options.prompt_id_count);
  read(given, "max_tokens", options.max_tokens);
  read(given, "temperature", options.temperature);
  read(given, "top_k", options.top_k);
  read(given, "top_p", options.top_p);
  read(given, "min_p", options.min_p);
  read(given, "repetition_penalty", options.repetition_penalty);
  read(given, "seed", options.seed);
  read(given, "top_logprobs", options.top_logprobs);
  bool ignore = false, keep = false, lookup = false;
  read(given, "ignore_end", ignore);
  read(given, "keep_caches", keep);
  read(given, "draft_lookup", lookup);
  options.ignore_end = ignore;
  options.keep_caches = keep;
  options.draft_lookup = lookup;
  read(given, "draft_tokens", options.draft_tokens);
  read(given, "stop", stops);
  stopTexts = viewsOf(stops);
  options.stop_texts = stopTexts.data();
  options.stop_text_count = stopTexts.size();
  onPiece = given["on_piece"];
  onLogprobs = given.contains("on_logprobs") ? nb::object(given["on_logprobs"]) : nb::none();
  setCallbacks();
}

void Generation::setCallbacks() {
  options.user = this;
  options.on_piece = [](void *user, int64_t token, const char *text, size_t size) {
    auto &self = *static_cast<Generation *>(user);
    return self.raised.call([&] { return self.onPiece(token, nb::str(text, size)); });
  };
  if (!onLogprobs.is_none())
    options.on_logprobs = [](void *user, int64_t token, float logprob, const fovea_logprob *top,
                             size_t count) {
      auto &self = *static_cast<Generation *>(user);
      return self.raised.call([&] {
        nb::list likeliest;
        for (size_t i = 0; i < count; ++i)
          likeliest.append(nb::make_tuple(top[i].token, top[i].logprob));
        return self.onLogprobs(token, logprob, likeliest);
      });
    };
}

static nb::dict generate(Context &context, const nb::dict &given,
                         const std::shared_ptr<Context> &draft) {
  Generation generation(given);
  fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
  if (draft)
    generation.options.draft = draft->get();
  context.run([&] { return fovea_generate(context.get(), &generation.options, &result); });
  generation.raised.rethrow();
  static const char *const kReasons[] = {"count", "end", "context", "callback", "text"};
  nb::dict out;
  out["prompt_tokens"] = result.prompt_tokens;
  out["new_tokens"] = result.new_tokens;
  out["prompt_seconds"] = result.prompt_seconds;
  out["new_seconds"] = result.new_seconds;
  out["stop"] = kReasons[result.stop];
  out["cached_tokens"] = result.cached_tokens;
  out["draft_tokens"] = result.draft_tokens;
  out["accepted_tokens"] = result.accepted_tokens;
  return out;
}

namespace {
/// Options of a translation, and what they point to.
struct Translation {
  fovea_translate_options options = FOVEA_TRANSLATE_OPTIONS_INIT;
  Source source;
  nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu> samples;
  std::vector<int64_t> prompt; // empty, or as many as the model's has
  nb::list texts;
  Raised raised;

  explicit Translation(const nb::dict &given);
};
} // namespace

Translation::Translation(const nb::dict &given) {
  if (nb::try_cast(given["source"], samples)) {
    options.source_samples = samples.data();
    options.source_sample_count = samples.size();
  } else {
    source.read(given["source"]);
    source.set(options.source, options.source_size, options.source_ids, options.source_id_count);
  }
  read(given, "max_tokens", options.max_tokens);
  read(given, "beams", options.beams);
  read(given, "count", options.count);
  read(given, "length_penalty", options.length_penalty);
  int early = options.early_stopping;
  read(given, "early_stopping", early);
  options.early_stopping = static_cast<fovea_early_stopping>(early);
  read(given, "min_tokens", options.min_tokens);
  read(given, "no_repeat_ngram", options.no_repeat_ngram);
  read(given, "prompt_ids", prompt);
  options.prompt_ids = prompt.empty() ? nullptr : prompt.data();
  options.prompt_id_count = prompt.size();
  options.user = this;
  options.on_text = [](void *user, size_t /*rank*/, const fovea_translation *text) {
    auto &self = *static_cast<Translation *>(user);
    self.raised.call([&]() -> nb::object {
      nb::list tokens, prompt;
      for (size_t i = 0; i < text->id_count; ++i)
        tokens.append(text->ids[i]);
      for (size_t i = 0; i < self.prompt.size(); ++i)
        prompt.append(text->prompt_ids[i]);
      self.texts.append(nb::make_tuple(nb::str(text->text, text->text_size), text->score,
                                       text->ended != 0, tokens, prompt));
      return nb::none();
    });
  };
}

static nb::list translate(Context &context, const nb::dict &given) {
  Translation translation(given);
  context.run([&] { return fovea_translate(context.get(), &translation.options, nullptr); });
  translation.raised.rethrow();
  return translation.texts;
}

static nb::tuple embed(Context &context, const std::vector<std::string> &texts) {
  std::vector<fovea_text> given = viewsOf(texts);
  float *vectors = nullptr;
  size_t width = 0, cut = 0;
  context.run([&] {
    return fovea_embed(context.get(), given.data(), given.size(), &vectors, &width, &cut);
  });
  nb::capsule owner(vectors, [](void *memory) noexcept { fovea_free(memory); });
  size_t shape[] = {texts.size(), width};
  return nb::make_tuple(nb::cast(nb::ndarray<nb::numpy, float>(vectors, 2, shape, owner)), cut);
}

/// Owns what the C interface gave.
template <typename T> using Freed = std::unique_ptr<T, decltype(&fovea_free)>;

static std::vector<int64_t> encode(const Module &module, const std::string &text, bool special) {
  int64_t *ids = nullptr;
  size_t count = 0;
  check(fovea_module_encode(module.get(), text.data(), text.size(), special, &ids, &count));
  Freed<int64_t> owner(ids, fovea_free);
  return std::vector<int64_t>(ids, ids + count);
}

static nb::tuple encodeTexts(const Module &module, const std::vector<std::string> &texts,
                             size_t most) {
  std::vector<fovea_text> given = viewsOf(texts);
  fovea_encoding encoding = FOVEA_ENCODING_INIT;
  check(fovea_module_encode_texts(module.get(), given.data(), given.size(), most, &encoding));
  Freed<int64_t> owner(encoding.ids, fovea_free);
  auto list = [&](const int64_t *numbers) {
    return std::vector<int64_t>(numbers, numbers + encoding.count);
  };
  return nb::make_tuple(list(encoding.ids), list(encoding.types), list(encoding.texts),
                        encoding.cut != 0);
}

static nb::str decode(const Module &module, const std::vector<int64_t> &ids) {
  char *text = nullptr;
  size_t size = 0;
  check(fovea_module_decode(module.get(), ids.data(), ids.size(), &text, &size));
  Freed<char> owner(text, fovea_free);
  return nb::str(text, size);
}

static int64_t findToken(const Module &module, const std::string &text) {
  int64_t id = -1;
  check(fovea_module_find_token(module.get(), text.data(), text.size(), &id));
  return id;
}

static nb::str renderChat(const Module &module, const std::optional<std::string> &name,
                          const std::string &variables) {
  char *text = nullptr;
  size_t size = 0;
  check(fovea_module_render_chat(module.get(), name ? name->c_str() : nullptr, variables.data(),
                                 variables.size(), &text, &size));
  Freed<char> owner(text, fovea_free);
  return nb::str(text, size);
}

void addTexts(nb::class_<Module> &module, nb::class_<Context> &context) {
  module.def("encode", &encode, "text"_a, "special"_a)
      .def("encode_texts", &encodeTexts, "texts"_a, "most"_a)
      .def("decode", &decode, "ids"_a)
      .def("find_token", &findToken, "text"_a)
      .def("render_chat", &renderChat, "name"_a.none(), "variables"_a);
  context.def("generate", &generate, "options"_a, "draft"_a.none())
      .def("translate", &translate, "options"_a)
      .def("embed", &embed, "texts"_a);
}

} // namespace fovea::python
