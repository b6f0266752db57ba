// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON and its typed reading (frontend/Json.h), of every kind and with keys that are not there.
#include "frontend/Json.h"
#include "test/fuzz/support/Fuzz.h"
#include "test/fuzz/support/JsonTree.h"

using namespace fovea;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutateJson(data, size, most, seed);
}

static void readAll(const JsonValue &value, Problems &problems, unsigned depth) {
  (void)value.describe();
  fuzz::require(value.keys().size() == (value.isObject() ? value.elements().size() : 0),
                "an object has a key for each value");
  for (size_t i = 0; i < value.keys().size(); ++i)
    fuzz::require(value.find(value.keys()[i]) == &value.elements()[i], "a key finds its value");
  if (depth == 8)
    return;
  if (value.isObject() && depth < 2) {
    JsonObject object(value, "file.json", "place", problems);
    for (const std::string &key : value.keys()) {
      object.integer(key, -5, 1 << 20);
      object.integer(key, 0, INT64_MAX, 7);
      object.number(key, -1e9, 1e9, 0.5);
      object.boolean(key, true);
      object.string(key, "");
      object.numbers(key, 0, 1);
      object.strings(key);
      object.array(key);
      object.member(key);
      object.reject(key, "another value");
    }
    object.integer("absent", 0, 1);
    object.reportUnread("is not understood");
  }
  for (const JsonValue &element : value.elements())
    readAll(element, problems, depth + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Problems problems;
  std::optional<JsonValue> value = parseJson(text, "file.json", problems);
  if (value)
    readAll(*value, problems, 0);
  fuzz::checkProblems(problems, value.has_value());
  return 0;
}
