// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `transcribe`: what is said in sound, one line a file. Sound longer than the model's clips is cut
// into clips, one after the other, whose texts are joined.
#include "frontend/Nearest.h"
#include "tools/verbs/Search.h"
#include "tools/verbs/Sound.h"
#include "tools/verbs/Texts.h"

#include <algorithm>
#include <iostream>

namespace fovea::verbs {

namespace {

struct TranscribeOptions : Common {
  std::vector<std::string> files;
  SearchOptions search;
  std::string language, task;
};

/// A model that reads sound.
struct Listener {
  ModulePtr module;
  ContextPtr context;
  int64_t rate = 0;
  size_t clip = 0;             ///< samples
  std::vector<int64_t> prompt; ///< -1: as the model says
};

/// Of a clip, or of several in turn.
struct Written {
  std::string text;
  std::vector<int64_t> tokens, prompt;
  size_t places = 0; ///< of the prompt
  double seconds = 0;
};

/// The samples that the entry of kind encode reads.
size_t clipOf(const ModulePtr &module, const std::string &file) {
  if (const char *name = findEntry(module, FOVEA_ENTRY_ENCODE)) {
    size_t number = findEntryNamed(module, name);
    fovea_entry_info entry = FOVEA_ENTRY_INFO_INIT;
    check(fovea_module_get_entry(module.get(), number, &entry));
    for (size_t i = 0; i < entry.argument_count; ++i) {
      fovea_value_info value = FOVEA_VALUE_INFO_INIT;
      check(fovea_module_get_argument(module.get(), number, i, &value));
      if (!value.is_cache && value.dtype.code == FOVEA_FLOAT && value.ndim == 2 &&
          value.shape[1] > 0)
        return static_cast<size_t>(value.shape[1]);
    }
  }
  throw Failure{1, file + ": cannot transcribe: it has no entry that encodes sound (its head "
                          "writes no text)"};
}

fovea_prompt_info promptOf(const ModulePtr &module, size_t place) {
  fovea_prompt_info info = FOVEA_PROMPT_INFO_INIT;
  check(fovea_module_get_prompt(module.get(), place, &info));
  return info;
}

/// Calls `hear(name, token)` for each value of a place of the prompt.
template <typename Hear> void forEachValue(const ModulePtr &module, size_t place, Hear hear) {
  for (size_t i = 0, count = promptOf(module, place).value_count; i < count; ++i) {
    const char *name = nullptr;
    int64_t token = 0;
    check(fovea_module_get_prompt_value(module.get(), place, i, &name, &token));
    hear(std::string(name), token);
  }
}

/// Puts the token of `value` where the model's prompt says `what`.
void choose(Listener &listener, const std::string &file, const std::string &what,
            const std::string &value) {
  if (value.empty())
    return;
  for (size_t place = 0; place < listener.prompt.size(); ++place) {
    if (promptOf(listener.module, place).name != what)
      continue;
    std::vector<std::string> names;
    forEachValue(listener.module, place, [&](const std::string &name, int64_t token) {
      names.push_back(name);
      if (name == value)
        listener.prompt[place] = token;
    });
    if (std::find(names.begin(), names.end(), value) != names.end())
      return;
    std::string list;
    for (const std::string &name : names)
      list += (list.empty() ? "" : ", ") + name;
    throw Failure{1, "--" + what + ": expects one of " + list + ", got " + plain(value) +
                         didYouMean(value, names)};
  }
  throw Failure{1, file + ": has no choice of a " + what + "; expects no --" + what};
}

Listener listenBy(const TranscribeOptions &options) {
  Listener listener;
  listener.module = options.open();
  fovea_module_info info = infoOf(listener.module);
  if (info.sampling_rate == 0)
    throw Failure{1, options.file + ": cannot transcribe: it reads no sound"};
  listener.rate = info.sampling_rate;
  listener.clip = clipOf(listener.module, options.file);
  listener.prompt.assign(info.prompt_count, -1);
  choose(listener, options.file, "language", options.language);
  choose(listener, options.file, "task", options.task);
  listener.context = options.makeContext(listener.module);
  return listener;
}

void onText(void *user, size_t rank, const fovea_translation *translation) {
  if (rank != 0)
    return;
  Written &written = *static_cast<Written *>(user);
  written.text.append(translation->text, translation->text_size);
  written.tokens.insert(written.tokens.end(), translation->ids,
                        translation->ids + translation->id_count);
  written.prompt.assign(translation->prompt_ids, translation->prompt_ids + written.places);
}

/// What is said in samples at the model's rate. The first clip's language is that of all.
Written transcribe(const TranscribeOptions &options, const Listener &listener,
                   const std::vector<float> &samples) {
  Written written;
  written.places = listener.prompt.size();
  std::vector<int64_t> prompt = listener.prompt;
  bool shows = terminalOnStandardError() && !options.quiet && samples.size() > listener.clip;
  for (size_t first = 0; first < samples.size(); first += listener.clip) {
    fovea_translate_options request = FOVEA_TRANSLATE_OPTIONS_INIT;
    options.search.fill(request);
    request.source_samples = samples.data() + first;
    request.source_sample_count = std::min(listener.clip, samples.size() - first);
    request.prompt_ids = prompt.data();
    request.prompt_id_count = prompt.size();
    request.user = &written;
    request.on_text = onText;
    fovea_translate_result result = FOVEA_TRANSLATE_RESULT_INIT;
    check(fovea_translate(listener.context.get(), &request, &result));
    prompt = written.prompt;
    written.seconds += result.source_seconds + result.new_seconds;
    if (shows)
      std::cerr << "\r" << std::min(first + listener.clip, samples.size()) / listener.rate << " of "
                << samples.size() / listener.rate << " s" << std::flush;
  }
  if (shows)
    std::cerr << "\r\x1b[K" << std::flush;
  // Tokenizers of words with a space before them give one before the first.
  if (!written.text.empty() && written.text.front() == ' ')
    written.text.erase(0, 1);
  return written;
}

/// What was chosen at the places of the prompt that are a choice: {"language": "de"}.
Json chosenBy(const Listener &listener, const Written &written) {
  Json chosen = Json::object();
  for (size_t place = 0; place < written.prompt.size(); ++place)
    forEachValue(listener.module, place, [&](const std::string &name, int64_t token) {
      if (token == written.prompt[place])
        chosen[promptOf(listener.module, place).name] = name;
    });
  return chosen;
}

void transcribe(const TranscribeOptions &options) {
  Listener listener = listenBy(options);
  Json record = Json::array();
  double heard = 0, seconds = 0;
  for (const std::string &file : options.files) {
    Sound sound;
    std::string error;
    if (!readWav(file, sound, error))
      throw Failure{1, error};
    if (sound.samples.empty())
      throw Failure{1, file + ": has no samples"};
    sound = resample(sound, listener.rate);
    Written written = transcribe(options, listener, sound.samples);
    double length = double(sound.samples.size()) / double(listener.rate);
    heard += length;
    seconds += written.seconds;
    if (!options.json) {
      print(written.text + "\n");
      continue;
    }
    Json one = {{"file", file}, {"length", length}, {"seconds", written.seconds}};
    one.update(chosenBy(listener, written));
    one["text"] = written.text;
    one["tokens"] = written.tokens;
    record.push_back(std::move(one));
  }
  if (options.json)
    printJson(record);
  flush();
  if (!options.quiet)
    note(*options.host, number(heard) + " s of sound in " + number(seconds) + " s");
}

} // namespace

void addTranscribe(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<TranscribeOptions>();
  CLI::App *verb =
      addVerb(app, "transcribe", "Write down what is said in sound",
              "Prints what is said in each WAV file, one line each. What is longer than the clips "
              "that the model reads (Whisper: 30 s) is cut into clips whose texts are joined. "
              "Examples:\n\n"
              "  PROGRAM transcribe model.fovea speech.wav\n"
              "  PROGRAM transcribe model.fovea --language de --task translate *.wav\n",
              options, host, code, [options] { transcribe(*options); });
  verb->add_option("SOUND", options->files,
                   "WAV files of any rate and number of channels; - is standard input")
      ->required();
  verb->add_option("--language", options->language,
                   "what is spoken (en, de, ...); without it the likeliest by the first clip");
  verb->add_option("--task", options->task,
                   "transcribe, or translate: into English; without it as the model says");
  options->search.addTo(*verb, "a clip's text");
}

} // namespace fovea::verbs
