// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chat templates: the part of Jinja 3.1 that they use, with the results that transformers gives
// (sandboxed, trim_blocks, lstrip_blocks, loop controls, its own tojson), byte for byte. A template
// is parsed once and rendered any number of times, by any number of threads.
//
//   std::string error, text;
//   std::unique_ptr<jinja::Template> chat = jinja::Template::parse(source, "chat_template", error);
//   if (!chat || !chat->render(R"({"messages": [{"role": "user", "content": "Hi"}]})", {}, text,
//                              error))
//     return fail(error);
//
// A template is data from strangers: whatever it is, both end within bounds of time, memory and
// depth, and it sees nothing but its variables and, by strftime_now, the clock.
#ifndef FOVEA_RUNTIME_TEMPLATE_TEMPLATE_H
#define FOVEA_RUNTIME_TEMPLATE_TEMPLATE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fovea::jinja {

struct Options {
  /// Evaluated expressions and statements, and 64 bytes of text each.
  size_t maxSteps = 10'000'000;
  /// That values and the result hold at a time.
  size_t maxBytes = size_t(128) << 20;
  /// What strftime_now tells, in seconds since 1970; the clock's if there is none. It is told in
  /// the time zone of the process.
  std::optional<int64_t> now;
  /// A JSON object with variables that count where the others lack them; may be empty.
  std::string_view defaults;
};

/// A text as JSON writes it.
std::string quoteJson(std::string_view text);
/// Whether `json` is an object with such a member that is not null.
bool hasValue(std::string_view json, const std::string &name);

struct Syntax;

class Template {
public:
  /// Null, and `error` names `name`, the line and what is there, if `source` is no template or uses
  /// what is not supported.
  static std::unique_ptr<Template> parse(std::string_view source, std::string name,
                                         std::string &error);
  ~Template();

  /// `variables` is a JSON object. False, and `error` names the template, its line and what failed,
  /// if the template cannot be rendered with them, or refuses them by raise_exception.
  bool render(std::string_view variables, const Options &options, std::string &text,
              std::string &error) const;

private:
  Template();
  std::unique_ptr<Syntax> syntax;
};

} // namespace fovea::jinja

#endif // FOVEA_RUNTIME_TEMPLATE_TEMPLATE_H
