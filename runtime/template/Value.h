// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a chat template, as Python has them: numbers of 64 bits, text, lists, dicts and
// what a template can make of them. All are immutable but namespaces, iterators and the like.
// Objects are counted, in number and in bytes; those of one rendering belong to one thread.
#ifndef FOVEA_RUNTIME_TEMPLATE_VALUE_H
#define FOVEA_RUNTIME_TEMPLATE_VALUE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fovea::jinja {

enum class Kind : uint8_t {
  None,
  Bool,
  Integer,
  Real,
  Undefined, ///< perhaps with an object that says what is missing; all behind have one
  Text,
  List,
  Tuple,
  Dict,
  Range,
  View,     ///< a dict's keys, values or items
  Iterator, ///< what can be gone through once
  Namespace,
  Loop,
  Macro,
  Function,
  Method,
  Cycler,
  Joiner
};

/// Bytes that the values of a rendering hold.
struct Memory {
  size_t live = 0;
};

struct Object {
  explicit Object(Memory *memory, size_t bytes, uint32_t depth = 1)
      : memory(memory), bytes(bytes), depth(depth) {
    if (memory)
      memory->live += bytes;
  }
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  virtual ~Object() {
    if (memory)
      memory->live -= bytes;
  }

  Memory *memory; ///< null: constants of a template
  size_t bytes;
  uint32_t depth; ///< of values in values
  uint32_t references = 0;
};

/// Counts as it is copied.
template <typename T> class Ref {
public:
  Ref() = default;
  explicit Ref(T *object) : object(object) { retain(); }
  Ref(const Ref &other) : object(other.object) { retain(); }
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() {
    if (object && --object->references == 0)
      delete object;
  }
  T *get() const { return object; }
  T *operator->() const { return object; }
  explicit operator bool() const { return object != nullptr; }

private:
  void retain() {
    if (object)
      ++object->references;
  }
  T *object = nullptr;
};

class Value {
public:
  Value() = default; ///< undefined
  Value(Kind kind, Object *object) : type(kind) {
    bits.object = object;
    retain();
  }
  Value(const Value &other) : type(other.type), bits(other.bits) { retain(); }
  Value(Value &&other) noexcept : type(other.type), bits(other.bits) { other.type = Kind::None; }
  Value &operator=(Value other) noexcept {
    std::swap(type, other.type);
    std::swap(bits, other.bits);
    return *this;
  }
  ~Value() {
    if (Object *object = address(); object && --object->references == 0)
      delete object;
  }

  static Value none() { return Value(Kind::None); }
  static Value boolean(bool value) {
    Value made(Kind::Bool);
    made.bits.integer = value;
    return made;
  }
  static Value integer(int64_t value) {
    Value made(Kind::Integer);
    made.bits.integer = value;
    return made;
  }
  static Value real(double value) {
    Value made(Kind::Real);
    made.bits.real = value;
    return made;
  }

  Kind kind() const { return type; }
  bool is(Kind kind) const { return type == kind; }
  bool isUndefined() const { return type == Kind::Undefined; }
  bool isInteger() const { return type == Kind::Integer || type == Kind::Bool; }
  bool isNumber() const { return isInteger() || type == Kind::Real; }
  bool isSequence() const { return type == Kind::List || type == Kind::Tuple; }
  /// Of an integer or a bool.
  int64_t asInteger() const { return bits.integer; }
  /// Of any number.
  double asReal() const {
    return type == Kind::Real ? bits.real : static_cast<double>(bits.integer);
  }
  /// Of a text.
  const std::string &text() const;
  bool isMarkup() const;
  /// Of a list or tuple.
  const std::vector<Value> &items() const;

  template <typename T> T &as() const { return *static_cast<T *>(bits.object); }
  /// Null for what is no object.
  Object *address() const { return type >= Kind::Undefined ? bits.object : nullptr; }
  uint32_t depth() const { return address() ? bits.object->depth : 0; }

private:
  explicit Value(Kind kind) : type(kind) {}
  void retain() {
    if (Object *object = address())
      ++object->references;
  }

  Kind type = Kind::Undefined;
  union {
    Object *object = nullptr;
    int64_t integer;
    double real;
  } bits;
};

struct UndefinedObject : Object {
  UndefinedObject(Memory *memory, std::string message)
      : Object(memory, sizeof *this + message.size()), message(std::move(message)) {}
  std::string message;
};

struct TextObject : Object {
  TextObject(Memory *memory, std::string value, bool markup)
      : Object(memory, sizeof *this + value.size()), text(std::move(value)), markup(markup) {}
  std::string text; ///< UTF-8
  bool markup;      ///< of `safe` and `escape`: a sum with it escapes the other text
};

struct SequenceObject : Object {
  SequenceObject(Memory *memory, std::vector<Value> values);
  std::vector<Value> items;
};

struct DictObject : Object {
  using Items = std::vector<std::pair<Value, Value>>;
  DictObject(Memory *memory, Items values, std::unordered_map<std::string, size_t> places);
  /// Null if there is none.
  const Value *find(const std::string &key) const {
    auto at = places.find(key);
    return at == places.end() ? nullptr : &items[at->second].second;
  }
  Items items; ///< in the order in which keys came first
  std::unordered_map<std::string, size_t> places;
};

struct RangeObject : Object {
  RangeObject(Memory *memory, int64_t start, int64_t stop, int64_t step)
      : Object(memory, sizeof *this), start(start), stop(stop), step(step) {}
  int64_t length() const;
  int64_t at(int64_t index) const { return start + index * step; }
  int64_t start, stop, step;
};

struct ViewObject : Object {
  enum class Of { Keys, Values, Items };
  ViewObject(Memory *memory, Value dict, Of of)
      : Object(memory, sizeof *this, dict.depth() + 1), dict(std::move(dict)), of(of) {}
  Value dict;
  Of of;
};

struct IteratorObject : Object {
  IteratorObject(Memory *memory, std::vector<Value> values);
  std::vector<Value> items;
  size_t next = 0;
};

struct NamespaceObject : Object {
  explicit NamespaceObject(Memory *memory) : Object(memory, sizeof *this) {}
  Value *find(const std::string &name);
  std::vector<std::pair<std::string, Value>> attributes;
};

struct LoopObject : Object {
  LoopObject(Memory *memory, std::vector<Value> values)
      : Object(memory, sizeof *this), items(std::move(values)) {}
  std::vector<Value> items;
  size_t index = 0;
  std::optional<std::vector<Value>> changed; ///< what `loop.changed` was last asked about
};

struct CyclerObject : Object {
  CyclerObject(Memory *memory, std::vector<Value> values)
      : Object(memory, sizeof *this), items(std::move(values)) {}
  std::vector<Value> items;
  size_t at = 0;
};

struct JoinerObject : Object {
  JoinerObject(Memory *memory, Value separator)
      : Object(memory, sizeof *this), separator(std::move(separator)) {}
  Value separator;
  bool used = false;
};

/// What tells keys of a dict apart, of which 1, 1.0 and True are one; nothing for what cannot be a
/// key, as a list.
std::optional<std::string> keyOf(const Value &value);

/// A dict of pairs, the last of those of one key; the keys are known to be keys.
DictObject *makeDict(Memory *memory, DictObject::Items pairs);

/// The type as Python calls it: "str", "NoneType".
const char *typeName(const Value &value);

} // namespace fovea::jinja

#endif // FOVEA_RUNTIME_TEMPLATE_VALUE_H
