// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON from files that nobody vouches for. Parsing has bounds on nesting, size
// and number of values, and refuses a key given twice, text that is no UTF-8
// and anything after the value. Reading goes through `JsonObject`, which turns
// what is missing or out of range into problems that name file, key, found and
// expected, and knows which keys nobody asked for.
#ifndef FOVEA_FRONTEND_JSON_H
#define FOVEA_FRONTEND_JSON_H

#include "frontend/Problem.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// A parsed JSON value: a tree, 56 bytes a node, that cannot be changed.
class JsonValue {
public:
  enum class Kind { Null, Bool, Integer, Number, String, Array, Object };

  JsonValue() = default;
  // The same of what is read from other formats. An object's keys are given once each.
  static JsonValue ofBool(bool value);
  static JsonValue ofInteger(int64_t value);
  static JsonValue ofNumber(double value);
  static JsonValue ofString(std::string value);
  static JsonValue ofArray(std::vector<JsonValue> elements);
  static JsonValue ofObject(std::vector<std::string> keys, std::vector<JsonValue> elements);

  Kind kind() const { return kindOf; }
  bool isNull() const { return kindOf == Kind::Null; }
  bool isBool() const { return kindOf == Kind::Bool; }
  /// A number written without fraction or exponent that fits i64.
  bool isInteger() const { return kindOf == Kind::Integer; }
  bool isNumber() const { return kindOf == Kind::Integer || kindOf == Kind::Number; }
  bool isString() const { return kindOf == Kind::String; }
  bool isArray() const { return kindOf == Kind::Array; }
  bool isObject() const { return kindOf == Kind::Object; }

  /// Each is meaningful for its kind alone, and zero or empty for the others.
  bool boolean() const { return isBool() && integerValue != 0; }
  int64_t integer() const { return isInteger() ? integerValue : 0; }
  double number() const {
    return isInteger() ? static_cast<double>(integerValue)
                       : (kindOf == Kind::Number ? numberValue : 0.0);
  }
  const std::string &string() const { return text; }

  /// Elements of an array, or an object's values in the order of the file.
  const std::vector<JsonValue> &elements() const;
  /// Keys of an object, in the same order as `elements()`.
  const std::vector<std::string> &keys() const;
  /// The value of `key` in an object, or null: O(log n).
  const JsonValue *find(std::string_view key) const;

  /// "a string", "an object", ...: for messages.
  const char *kindName() const;
  /// A short text for messages: the value itself if it is a scalar.
  std::string describe() const;

private:
  friend class JsonBuilder;
  struct Children {
    std::vector<JsonValue> elements;
    std::vector<std::string> keys;
    std::vector<uint32_t> byKey; ///< Indices of `keys`, sorted by key.

    void sortKeys();
  };

  Kind kindOf = Kind::Null;
  union {
    int64_t integerValue = 0;
    double numberValue;
  };
  std::string text;
  std::shared_ptr<const Children> children; // shared: values are immutable
};

/// Bounds on what is accepted; the defaults fit the largest tokenizers.
struct JsonLimits {
  size_t maxDepth = 64;
  size_t maxValues = size_t(1) << 24;
  uint64_t maxBytes = uint64_t(256) << 20;
};

/// Parses all of `text`; `file` is only for the problem. At most one problem is
/// added, and then nothing is returned.
std::optional<JsonValue> parseJson(std::string_view text, const std::string &file,
                                   Problems &problems, const JsonLimits &limits = {});

/// The same for the content of a regular file.
std::optional<JsonValue> parseJsonFile(const std::string &path, Problems &problems,
                                       const JsonLimits &limits = {});

/// A file that is open for reading; neither a folder nor a device or pipe.
struct RegularFile {
  static std::optional<RegularFile> open(const std::string &path, Problems &problems);
  RegularFile(RegularFile &&other) noexcept;
  ~RegularFile();

  int descriptor = -1;
  uint64_t size = 0; ///< in bytes

private:
  RegularFile() = default;
};

/// Whether there is anything of this path, a folder too.
bool exists(const std::string &path);

/// The whole content of a regular file of at most `maxBytes`.
std::optional<std::string> readFile(const std::string &path, uint64_t maxBytes, Problems &problems);

/// Typed reading of one object. A getter without fallback requires its key: it
/// adds a problem if the key is missing. Every getter adds a problem if the
/// value has another kind or lies outside the bounds (both inclusive). `null`
/// counts as missing, as configurations write it for "not set".
class JsonObject {
public:
  /// `path` is the place of the object in its file, empty for the root. If
  /// `value` is no object a problem is added and `valid()` is false; required
  /// getters then fail without further problems.
  JsonObject(const JsonValue &value, std::string file, std::string path, Problems &problems);

  bool valid() const { return object != nullptr; }
  const std::string &file() const { return fileName; }
  /// The place of a member: "rope_scaling.factor".
  std::string placeOf(std::string_view key) const;

  /// Present and not null.
  bool has(std::string_view key) const;
  /// The member if present and not null. Counts as read.
  const JsonValue *find(std::string_view key);

  std::optional<int64_t> integer(std::string_view key, int64_t min, int64_t max);
  int64_t integer(std::string_view key, int64_t min, int64_t max, int64_t fallback);
  /// Finite; integers are accepted.
  std::optional<double> number(std::string_view key, double min, double max);
  double number(std::string_view key, double min, double max, double fallback);
  std::optional<bool> boolean(std::string_view key);
  bool boolean(std::string_view key, bool fallback);
  std::optional<std::string> string(std::string_view key);
  std::string string(std::string_view key, std::string fallback);
  /// An array of finite numbers within the bounds.
  std::optional<std::vector<double>> numbers(std::string_view key, double min, double max);
  std::optional<std::vector<std::string>> strings(std::string_view key);
  /// A member object or array; required.
  const JsonValue *array(std::string_view key);
  std::optional<JsonObject> member(std::string_view key);

  /// Adds the problem that `key` holds something else than `expected`.
  void reject(std::string_view key, const std::string &expected);
  /// Marks keys that may be present and that nobody needs to read.
  void ignore(std::initializer_list<const char *> keys);
  /// Adds a problem with `message` for each key that was neither read nor
  /// ignored and whose value is not null.
  void reportUnread(const std::string &message);

private:
  const JsonValue *require(std::string_view key);

  const JsonValue *object = nullptr;
  std::string fileName;
  std::string path;
  Problems &problems;
  std::set<std::string, std::less<>> read;
};

} // namespace fovea

#endif // FOVEA_FRONTEND_JSON_H
