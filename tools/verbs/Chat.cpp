// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `chat`: a conversation by the checkpoint's own chat template. Each line of standard input is what
// the user says; the answer goes to standard output as it comes. What the caches hold of the
// conversation is not read again.
#include "tools/verbs/Common.h"
#include "tools/verbs/Continuation.h"

#include <iostream>
#include <unistd.h>

namespace fovea::verbs {

namespace {

using Json = nlohmann::ordered_json;

struct ChatOptions : Common {
  std::string system, variables;
  CLI::Option *systemOption = nullptr;
  Choosing choosing;
};

class Conversation {
public:
  explicit Conversation(ChatOptions &options)
      : options(options), isTerminal(::isatty(STDIN_FILENO)) {
    options.choosing.settle(options);
    readVariables();
    if (!options.systemOption->empty())
      say("system", options.system);
    module = options.open();
    context = options.makeContext(module);
    if (!infoOf(module).has_tokenizer || !findEntry(module, FOVEA_ENTRY_PREFILL))
      throw Failure{
          1, options.artifact + ": cannot chat: " +
                 (infoOf(module).has_tokenizer ? "it writes no text" : "it holds no tokenizer")};
    options.choosing.drafting.open(options);
    options.choosing.cache.load(context);
    (void)render(); // a template that cannot be used is told before anything is typed
  }

  void run() {
    std::string line;
    while (readLine(line)) {
      if (line.find_first_not_of(" \t") == std::string::npos)
        continue;
      say("user", line);
      answer();
    }
    if (isTerminal)
      std::cerr << "\n";
  }

private:
  void readVariables() {
    variables = Json::object();
    if (!options.variables.empty())
      variables = Json::parse(options.variables, nullptr, /*allow_exceptions=*/false);
    if (!variables.is_object() || variables.contains("messages"))
      throw Failure{2, "--variables expects a JSON object without \"messages\", got " +
                           options.variables};
    variables["messages"] = Json::array();
  }

  void say(const char *role, const std::string &content) {
    variables["messages"].push_back({{"role", role}, {"content", content}});
  }

  bool readLine(std::string &line) {
    if (isTerminal && !options.quiet)
      std::cerr << "> " << std::flush;
    if (!std::getline(std::cin, line))
      return false;
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    return true;
  }

  /// The text that the model continues. Of an empty conversation, which templates may refuse, only
  /// that there is a template.
  std::string render() {
    Json all = variables;
    bool isEmpty = true;
    for (const Json &message : all["messages"])
      isEmpty &= message["role"] == "system";
    if (isEmpty)
      all["messages"].push_back({{"role", "user"}, {"content", "?"}});
    all["add_generation_prompt"] = true;
    std::string json = all.dump(-1, ' ', false, Json::error_handler_t::replace);
    char *text = nullptr;
    size_t size = 0;
    check(fovea_module_render_chat(module.get(), nullptr, json.data(), json.size(), &text, &size));
    std::string rendered(text, size);
    fovea_free(text);
    return rendered;
  }

  void answer() {
    std::string text = render();
    int64_t *ids = nullptr;
    fovea_generate_options request = FOVEA_GENERATE_OPTIONS_INIT;
    check(fovea_module_encode(module.get(), text.data(), text.size(), /*special=*/0, &ids,
                              &request.prompt_id_count));
    std::unique_ptr<int64_t, FreeBy<fovea_free>> owned(ids);
    request.prompt_ids = ids;
    request.keep_caches = 1;
    Continuation continuation(module, options);
    fovea_generate_result result = continuation.run(context, request, options.choosing);
    say("assistant", continuation.text());
    if (options.json) {
      Json record = continuation.record(result, options.choosing);
      record["cached_tokens"] = result.cached_tokens;
      printJson(record);
    } else {
      print("\n");
    }
    flush();
    options.choosing.cache.save(context);
    noteFullContext(options, context, result);
    if (!options.quiet && isTerminal)
      note(*options.host,
           "prompt " + rate(result.prompt_tokens - result.cached_tokens, result.prompt_seconds) +
               ", text " + rate(result.new_tokens, result.new_seconds));
  }

  ChatOptions &options;
  bool isTerminal;
  Json variables; ///< with "messages"
  ModulePtr module;
  ContextPtr context;
};

} // namespace

void addChat(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<ChatOptions>();
  options->choosing.count = 1024;
  CLI::App *verb =
      addVerb(app, "chat", "Talk with a language model, by its own chat template",
              "Examples:\n\n"
              "  PROGRAM chat model.fovea --system 'Be brief.'\n"
              "  PROGRAM chat model.fovea --json --temp 0 < questions.txt\n"
              "  PROGRAM chat model.fovea --variables '{\"enable_thinking\": false}'\n\n"
              "Each line of standard input is a message; the answer is printed, and the next\n"
              "line is read. The conversation stays in the context: only what is new is read\n"
              "by the model.\n",
              options, host, code, [options] { Conversation(*options).run(); });
  options->systemOption =
      verb->add_option("--system", options->system, "what the model is told first");
  verb->add_option("--variables", options->variables,
                   "a JSON object with what the template knows beside the messages, as \"tools\"");
  options->choosing.addTo(*verb);
}

} // namespace fovea::verbs
