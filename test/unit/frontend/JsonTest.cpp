// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bounds and messages of the JSON reader.
#include "frontend/Json.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace fovea;

namespace {

/// The one problem of parsing `text`, or "" if it is accepted.
std::string parseProblem(std::string_view text, const JsonLimits &limits = {}) {
  Problems problems;
  std::optional<JsonValue> value = parseJson(text, "f.json", problems, limits);
  EXPECT_EQ(value.has_value(), problems.empty());
  EXPECT_LE(problems.size(), 1u);
  return problems.empty() ? "" : problems.front().text();
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Json, ReadsEveryKind) {
  Problems problems;
  auto value = parseJson(
      R"( {"b": true, "a": [1, -2, 3.5, "x\u00e9", null, {}], "big": 18446744073709551615} )", "f",
      problems);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->keys(), (std::vector<std::string>{"b", "a", "big"}));
  EXPECT_TRUE(value->find("b")->boolean());
  const JsonValue *array = value->find("a");
  ASSERT_EQ(array->elements().size(), 6u);
  EXPECT_EQ(array->elements()[0].integer(), 1);
  EXPECT_EQ(array->elements()[1].integer(), -2);
  EXPECT_EQ(array->elements()[2].number(), 3.5);
  EXPECT_EQ(array->elements()[3].string(), "x\xC3\xA9");
  EXPECT_TRUE(array->elements()[4].isNull());
  EXPECT_TRUE(array->elements()[5].isObject());
  EXPECT_FALSE(value->find("big")->isInteger());
  EXPECT_EQ(value->find("big")->number(), std::ldexp(1.0, 64));
  EXPECT_EQ(value->find("c"), nullptr);
}

TEST(Json, DuplicateKey) {
  EXPECT_TRUE(contains(parseProblem(R"({"a": 1, "b": 2, "a": 3})"), "\"a\" is given twice"));
  EXPECT_TRUE(contains(parseProblem(R"({"a": {"x": 1, "\u0078": 2}})"), "\"x\" is given twice"));
}

TEST(Json, NestedWithoutEnd) {
  std::string message = parseProblem(std::string(5000000, '['));
  EXPECT_TRUE(contains(message, "f.json: expects JSON nested at most 64 deep")) << message;
  std::string objects;
  for (int i = 0; i < 100000; ++i)
    objects += "{\"a\":";
  EXPECT_TRUE(contains(parseProblem(objects), "nested at most 64 deep"));
  EXPECT_EQ(parseProblem(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_NE(parseProblem(std::string(65, '[') + std::string(65, ']')), "");
}

TEST(Json, TooManyValuesAndBytes) {
  JsonLimits limits;
  limits.maxValues = 4;
  EXPECT_EQ(parseProblem("[1,2,3]", limits), "");
  EXPECT_TRUE(contains(parseProblem("[1,2,3,4]", limits), "at most 4 JSON values"));
  limits.maxBytes = 3;
  EXPECT_TRUE(contains(parseProblem("[1,2]", limits), "at most 3 bytes of JSON, got 5"));
}

TEST(Json, NotJson) {
  for (const char *text :
       {"", "   ", "{", "{\"a\": }", "[1,]", "nul", "{a: 1}", "1 2", "{} x", "\"abc", "'a'", "NaN",
        "[1e999]", "\"\xFF\"", "\"\xED\xA0\x80\"", "\"\n\"", "\"\\ud800\"", "// c\n1"})
    EXPECT_TRUE(contains(parseProblem(text), "f.json: expects JSON, at byte"))
        << text << ": " << parseProblem(text);
}

TEST(Json, MessagesAreShortAndPrintable) {
  std::string hostile = "\"" + std::string(100000, 'a') + "\x1b[31m";
  std::string message = parseProblem(hostile);
  EXPECT_LT(message.size(), 300u);
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_EQ(printable("a\x1b\n\xC2\x9B\xC3\xA9\xFF"), "a\\x1B\\x0A\\xC2\\x9B\xC3\xA9\\xFF");
}

TEST(Json, TypedGettersNameFileKeyFoundAndExpected) {
  Problems problems;
  auto value = parseJson(
      R"({"n": 3.5, "neg": -1, "s": "x", "l": [1, "y"], "o": {"in": true}, "z": null, "u": 1})",
      "dir/f.json", problems);
  ASSERT_TRUE(value);
  JsonObject object(*value, "dir/f.json", "", problems);
  EXPECT_FALSE(object.integer("n", 1, 10));
  EXPECT_FALSE(object.integer("neg", 1, 10));
  EXPECT_FALSE(object.integer("missing", 1, 10));
  EXPECT_FALSE(object.string("n"));
  EXPECT_FALSE(object.numbers("l", 0, 10));
  EXPECT_FALSE(object.number("s", 0, 1));
  EXPECT_FALSE(object.has("z"));
  EXPECT_EQ(object.integer("z", 1, 10, 7), 7);
  auto inner = object.member("o");
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->integer("in", 0, 1, 0), 0);
  EXPECT_FALSE(object.member("s"));
  object.reportUnread("is not understood");
  std::vector<std::string> texts;
  for (const Problem &problem : problems)
    texts.push_back(problem.text());
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "dir/f.json: n: expects an integer from 1 to 10, got 3.5",
                       "dir/f.json: neg: expects an integer from 1 to 10, got -1",
                       "dir/f.json: missing: is required, but missing",
                       "dir/f.json: n: expects a string, got 3.5",
                       "dir/f.json: l[1]: expects a number from 0 to 10, got \"y\"",
                       "dir/f.json: s: expects a number from 0 to 1, got \"x\"",
                       "dir/f.json: o.in: expects an integer from 0 to 1, got true",
                       "dir/f.json: s: expects an object, got \"x\"",
                       "dir/f.json: u: is not understood",
                   }));
}

TEST(Json, FilesThatAreNone) {
  Problems problems;
  EXPECT_FALSE(parseJsonFile("/nowhere/f.json", problems));
  EXPECT_FALSE(parseJsonFile("/", problems));
  EXPECT_FALSE(parseJsonFile("/dev/zero", problems));
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_TRUE(contains(problems[0].text(), "/nowhere/f.json: cannot be opened: No such file"));
  EXPECT_TRUE(contains(problems[1].text(), "expects a regular file"));
  EXPECT_TRUE(contains(problems[2].text(), "expects a regular file"));
}

} // namespace
