// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Template.h.
#include "runtime/template/Template.h"

#include "runtime/template/Operators.h"
#include "runtime/template/Parser.h"
#include "runtime/template/Text.h"
#include "runtime/tokenizer/Utf8.h"

namespace fovea::jinja {

/// Larger ones are none: the longest published ones have 20 KB.
static constexpr size_t mostBytes = 1 << 20;

std::string quoteJson(std::string_view text) {
  std::string out;
  appendJson(out, text, /*asciiOnly=*/false);
  return out;
}

bool hasValue(std::string_view json, const std::string &name) {
  Syntax nothing;
  Options options;
  Rendering rendering(nothing, options);
  Value all;
  std::string error;
  if (!readJson(rendering, json, all, error) || !all.is(Kind::Dict))
    return false;
  const Value *value = all.as<DictObject>().find("s" + name);
  return value && !value->is(Kind::None);
}

Template::Template() : syntax(std::make_unique<Syntax>()) {}
Template::~Template() = default;

std::unique_ptr<Template> Template::parse(std::string_view source, std::string name,
                                          std::string &error) {
  auto fail = [&](int line, const std::string &message) {
    error = name + ":" + std::to_string(line) + ": " + message;
    return nullptr;
  };
  if (source.size() > mostBytes)
    return fail(1, "expects a template of at most " + std::to_string(mostBytes) + " bytes, got " +
                       std::to_string(source.size()));
  if (!isUtf8(source))
    return fail(1, "the template is no UTF-8");
  std::unique_ptr<Template> made(new Template());
  made->syntax->name = name;
  std::vector<Token> tokens;
  int line = 0;
  std::string message;
  if (!tokenize(source, tokens, line, message))
    return fail(line, message);
  Parser parser(std::move(tokens), *made->syntax);
  if (!parser.run())
    return fail(parser.errorLine, parser.error);
  return made;
}

bool Template::render(std::string_view variables, const Options &options, std::string &text,
                      std::string &error) const {
  Rendering rendering(*syntax, options);
  if (rendering.run(variables, text))
    return true;
  error = rendering.error();
  return false;
}

} // namespace fovea::jinja
