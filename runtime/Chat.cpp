// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A conversation as text, by a chat template of the artifact. Refuses artifacts without one; what a
// template cannot do, or raises, names its file and line.
#include "runtime/Module.h"
#include "runtime/status/Status.h"
#include "runtime/template/Template.h"

#include <cstdlib>
#include <cstring>

namespace fovea {

using ChatTemplate = Tokenizer::ChatTemplate;

static const ChatTemplate &choose(const Module &module, const std::vector<ChatTemplate> &all,
                                  std::string_view name) {
  std::string names;
  for (const ChatTemplate &one : all) {
    if (one.name == name)
      return one;
    names += (names.empty() ? "'" : ", '") + std::string(one.name) + "'";
  }
  if (all.empty())
    failInvalid(module.path() +
                ": holds no chat template (its source has none beside tokenizer.json)");
  failInvalid(module.path() + ": has no chat template '" + std::string(name) + "'; it has " +
              names);
}

/// What transformers gives to every template.
static std::string defaultVariables(const Tokenizer &tokenizer) {
  std::string json = R"({"tools": null, "documents": null, "add_generation_prompt": false)";
  for (const auto &[name, content] : tokenizer.namedTokens())
    json += ", " + jinja::quoteJson(name) + ": " + jinja::quoteJson(content);
  return json + "}";
}

static std::string render(const Module &module, const char *name, std::string_view variables) {
  const Tokenizer &tokenizer = module.requireTokenizer();
  std::vector<ChatTemplate> all = tokenizer.chatTemplates();
  bool forTools = !name && jinja::hasValue(variables, "tools");
  auto isForTools = [](const ChatTemplate &one) { return one.name == "tool_use"; };
  bool hasOne = false;
  for (const ChatTemplate &one : all)
    hasOne |= isForTools(one);
  const ChatTemplate &chosen = choose(module, all,
                                      name                 ? name
                                      : forTools && hasOne ? "tool_use"
                                                           : "default");
  std::string error, text, defaults = defaultVariables(tokenizer);
  jinja::Options options;
  options.defaults = defaults;
  std::unique_ptr<jinja::Template> chat =
      jinja::Template::parse(chosen.text, std::string(chosen.file), error);
  if (!chat || !chat->render(variables, options, text, error))
    failInvalid(module.path() + ": " + error);
  return text;
}

} // namespace fovea

fovea_status *fovea_module_render_chat(const fovea_module *module, const char *name,
                                       const char *variables, size_t size, char **text,
                                       size_t *textSize) {
  return fovea::guarded([&] {
    if (!module || !variables || !text)
      fovea::failInvalid("module, variables or text is NULL");
    std::string rendered = fovea::render(*module->module, name, {variables, size});
    char *out = static_cast<char *>(std::malloc(rendered.size() + 1));
    if (!out)
      throw std::bad_alloc();
    std::memcpy(out, rendered.c_str(), rendered.size() + 1);
    *text = out;
    if (textSize)
      *textSize = rendered.size();
  });
}
