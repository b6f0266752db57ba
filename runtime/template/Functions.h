// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Filters, tests, methods and global functions, by name.
#ifndef FOVEA_RUNTIME_TEMPLATE_FUNCTIONS_H
#define FOVEA_RUNTIME_TEMPLATE_FUNCTIONS_H

#include "runtime/template/Rendering.h"

#include <initializer_list>

namespace fovea::jinja {

/// A filter or method gets its operand, a global function an undefined value.
using Function = Value (*)(Rendering &rendering, const Value &self, const Arguments &arguments);
/// Whether `self` passes; a failure of the rendering means nothing.
using Test = bool (*)(Rendering &rendering, const Value &self, const Arguments &arguments);

struct NamedFunction {
  const char *name;
  Function function;
};
struct NamedTest {
  const char *name;
  Test test;
  bool takesArgument = false;
};
/// Fails for arguments that the test does not take.
bool passes(Rendering &rendering, const NamedTest &test, const Value &value,
            const Arguments &arguments);

/// Each null if there is none.
const NamedFunction *findFilter(const std::string &name);
const NamedFunction *findTextFilter(const std::string &name);
const NamedFunction *findListFilter(const std::string &name);
const NamedTest *findTest(const std::string &name);
const NamedFunction *findGlobal(const std::string &name);
/// Of the type of `value`; `isForbidden` if it changes what it is called on.
const NamedFunction *findMethod(const Value &value, const std::string &name, bool &isForbidden);
const NamedFunction *findTextMethod(const std::string &name);

template <typename Row, size_t N>
const Row *findRow(const Row (&rows)[N], const std::string &name) {
  for (const Row &row : rows)
    if (name == row.name)
      return &row;
  return nullptr;
}

struct FunctionObject : Object {
  FunctionObject(Memory *memory, const NamedFunction *function)
      : Object(memory, sizeof *this), function(function) {}
  const NamedFunction *function;
};

struct MethodObject : Object {
  MethodObject(Memory *memory, Value self, const NamedFunction *method)
      : Object(memory, sizeof *this, self.depth() + 1), self(std::move(self)), method(method) {}
  Value self;
  const NamedFunction *method;
};

/// Arguments by the names of parameters, as a call in Python binds them. Fails, in the name of
/// `what`, for one too many, an unknown name, or less than `required`.
class Bound {
public:
  Bound(Rendering &rendering, const char *what, const Arguments &arguments,
        std::initializer_list<const char *> names, size_t required = 0);
  /// Null if it is not given.
  const Value *operator[](size_t place) const { return places[place]; }
  /// `fallback` if it is not given; fails for what is no integer.
  int64_t integer(size_t place, int64_t fallback) const;
  bool flag(size_t place, bool fallback = false) const;
  /// As `str`; empty if it is not given.
  std::string text(size_t place) const;

private:
  Rendering &rendering;
  const char *what;
  std::vector<const Value *> places;
};

/// What filters with `attribute=` look at: "a.b.0" goes from one to the next.
Value getPath(Rendering &rendering, Value value, const Value &attribute,
              const Value *fallback = nullptr);
/// Text in small letters, other values as they are: how filters compare.
Value ignoreCase(Rendering &rendering, const Value &value);

} // namespace fovea::jinja

#endif // FOVEA_RUNTIME_TEMPLATE_FUNCTIONS_H
