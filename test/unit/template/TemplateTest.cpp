// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds and messages of chat templates; that texts are Jinja's is compared in test/template.
#include "runtime/template/Template.h"

#include <gtest/gtest.h>

using namespace fovea::jinja;

namespace {

/// The text, or "error: " and the message.
std::string render(const std::string &source, const std::string &variables = "{}",
                   Options options = {}) {
  std::string error, text;
  std::unique_ptr<Template> chat = Template::parse(source, "chat", error);
  if (!chat || !chat->render(variables, options, text, error))
    return "error: " + error;
  return text;
}

std::string repeated(const std::string &text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += text;
  return all;
}

void expectError(const std::string &source, const std::string &part) {
  Options options;
  options.maxSteps = 1'000'000;
  options.maxBytes = 8 << 20;
  std::string result = render(source, "{}", options);
  EXPECT_EQ(result.rfind("error: chat:", 0), 0u) << result.substr(0, 200);
  EXPECT_NE(result.find(part), std::string::npos) << result.substr(0, 200);
}

TEST(Template, MessagesNameLineAndConstruct) {
  EXPECT_EQ(render("a\n{{ x.y }}"), "error: chat:2: 'x' is undefined");
  EXPECT_EQ(render("\n\n{% include 'x' %}"), "error: chat:3: tag 'include' is not supported here");
  EXPECT_EQ(render("{{ 1 | urlize }}"), "error: chat:1: filter 'urlize' is not supported");
  EXPECT_EQ(render("{% if x %}"), "error: chat:1: expects elif or else or endif, got the end of "
                                  "the template");
  EXPECT_EQ(render("{{ raise_exception('no ' ~ n) }}", R"({"n": 3})"),
            "error: chat:1: the template refuses the conversation: no 3");
  EXPECT_EQ(render("{% for x in y recursive %}{% endfor %}"),
            "error: chat:1: recursive loops are not supported");
  EXPECT_EQ(render("{% break %}"), "error: chat:1: break stands in no loop");
  EXPECT_EQ(render("{% for x in y %}{% generation %}{% break %}{% endgeneration %}{% endfor %}"),
            "error: chat:1: break stands in no loop");
}

/// As iterating over Python's `Markup` gives plain texts.
TEST(Template, CharactersOfMarkupArePlain) {
  EXPECT_EQ(render("{{ ('<a' | escape) | list }}{{ ['<' | escape] }}"),
            "['&', 'l', 't', ';', 'a'][Markup('&lt;')]");
}

TEST(Template, RefusesVariablesThatAreNoObject) {
  for (const char *wrong : {"", "[]", "{", R"({"a" 1})", R"({"a": 01x})", R"({"a": "\ud800"})",
                            R"({"a": 1} x)", R"({"a": 99999999999999999999})"})
    EXPECT_EQ(render("a", wrong).rfind("error: chat:1: the variables are no JSON object", 0), 0u)
        << wrong;
}

TEST(Template, RefusesOtherThanUtf8) { expectError("a\xff", "no UTF-8"); }

TEST(Template, StepsAreBounded) {
  expectError("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
              "steps");
  expectError("{% set ns = namespace(x='ab') %}{% for i in range(9) %}{% for j in range(99999) "
              "%}{% if ns.x * 9999 == 'x' %}{% endif %}{% endfor %}{% endfor %}",
              "steps");
}

TEST(Template, MemoryIsBounded) {
  expectError("{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x "
              "%}{% endfor %}",
              "MiB");
  expectError("{{ 'a' * 999999999999 }}", "MiB");
  expectError("{{ [0] * 999999999 }}", "MiB");
  expectError("{{ 'a'.center(4000000000) }}", "MiB");
  expectError("{{ ('a' * 9999999).replace('a', 'b' * 9999999) }}", "MiB");
  expectError("{{ ('a' * 99999).replace('', 'b' * 99999) }}", "MiB");
  expectError("{{ 'a'.join(('b' * 99999).replace('b', 'b,').split(',')) | indent('x' * 99999) }}"
              "{{ ('a\n' * 99999) | indent('x' * 99999) }}",
              "MiB");
  // Printed as often as it is shared.
  expectError(
      "{% set ns = namespace(x=[1, 2]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] "
      "%}{% endfor %}{{ ns.x }}",
      "");
  expectError("{% for i in range(99999) %}{{ 'a' * 9999 }}{% endfor %}", "MiB");
  expectError("{{ {'a': [1]} | tojson(indent='x' * 99999999) }}", "MiB");
  expectError("{{ '%9999d' % 1 }}", "wider than 1000");
}

TEST(Template, DepthIsBounded) {
  expectError("{{ " + repeated("(", 9999) + "1" + repeated(")", 9999) + " }}", "nested");
  expectError("{{ " + repeated("-", 99999) + "1 }}", "nested");
  expectError("{{ " + repeated("not ", 99999) + "1 }}", "nested");
  expectError("{{ 1" + repeated(" + 1", 99999) + " }}", "nested");
  expectError("{{ x" + repeated("[0]", 99999) + " }}", "nested");
  expectError("{{ x" + repeated(" | list", 99999) + " }}", "nested");
  expectError("{% set " + repeated("(", 99999) + "x" + repeated(")", 99999) + " = 1 %}", "nested");
  expectError(repeated("{% if x %}", 9999), "nested");
  expectError("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "deep");
  expectError("{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = [ns.x] %}"
              "{% endfor %}",
              "nested");
  EXPECT_EQ(render("a", "{\"a\": " + repeated("[", 9999)).rfind("error: ", 0), 0u);
}

TEST(Template, WhatRefersToItselfIsFreed) {
  // The address sanitizer says if not.
  EXPECT_EQ(render("{% set ns = namespace() %}{% set ns.x = [ns] %}{% macro f() %}{% macro g() "
                   "%}{% endmacro %}{% set ns.g = g %}{% endmacro %}{{ f() }}a"),
            "a");
  EXPECT_EQ(render("{% set ns = namespace(x=none) %}{% for i in range(50000) %}{% set ns.x = "
                   "namespace(x=ns.x) %}{% endfor %}a"),
            "a");
  EXPECT_EQ(render("{% set ns = namespace(f=none) %}{% for i in range(20000) %}{% set old = ns.f "
                   "%}{% macro f() %}{{ old }}{% endmacro %}{% set ns.f = f %}{% endfor %}a"),
            "a");
  expectError("{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns }}", "nested");
}

TEST(Template, NothingLeadsOutOfTheSandbox) {
  EXPECT_EQ(render("{{ x.__class__ }}{{ x['__class__'] }}{{ ''.__init__ }}|", R"({"x": {}})"), "|");
  expectError("{{ ''.__class__.__mro__ }}", "unsafe");
  expectError("{{ '{0.__class__.__mro__}'.format(1) }}", "unsafe");
  expectError("{{ [].append(1) }}", "unsafe");
  expectError("{{ {}.update({}) }}", "unsafe");
  expectError("{{ namespace(_a=1) }}", "_");
  expectError("{% set ns = namespace() %}{% set ns._a = 1 %}", "_");
  expectError("{{ range.__globals__ }}{{ range.__globals__.x }}", "unsafe");
  expectError("{{ range(100001) }}", "at most");
}

TEST(Template, NumbersBeyond64BitsFail) {
  expectError("{{ 9223372036854775807 + 1 }}", "64 bits");
  expectError("{{ -9223372036854775807 - 2 }}", "64 bits");
  expectError("{{ 3 ** 99 }}", "64 bits");
  expectError("{{ 9223372036854775808 }}", "64 bits");
  EXPECT_EQ(render("{{ (-9223372036854775807 - 1) % -1 }}"), "0");
  expectError("{{ (-9223372036854775807 - 1) // -1 }}", "64 bits");
  EXPECT_EQ(render("{{ 'abc'[-9223372036854775807 - 1:9223372036854775807:9223372036854775807] "
                   "}}"),
            "a");
  EXPECT_EQ(render("{{ 'abc'[::-9223372036854775807 - 1] }}"), "c");
}

TEST(Template, TellsTheTimeThatIsGiven) {
  Options options;
  options.now = 86400 * 365;
  EXPECT_EQ(render("{{ strftime_now('%Y') }}", "{}", options), "1971");
}

TEST(Template, IsRenderedManyTimes) {
  std::string error, text;
  std::unique_ptr<Template> chat =
      Template::parse("{% set x = (x or 0) + 1 %}{{ x }}", "chat", error);
  ASSERT_TRUE(chat) << error;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(chat->render("{}", {}, text, error)) << error;
    EXPECT_EQ(text, "1");
  }
}

} // namespace
