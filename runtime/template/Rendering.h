// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One rendering of a template: its variables, what it has used of its bounds, and its failure.
// There are no exceptions: after a failure every evaluation gives an undefined value at once.
#ifndef FOVEA_RUNTIME_TEMPLATE_RENDERING_H
#define FOVEA_RUNTIME_TEMPLATE_RENDERING_H

#include "runtime/template/Syntax.h"
#include "runtime/template/Template.h"

#include <map>

namespace fovea::jinja {

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keyword;
};

/// Variables by symbol; those that are not here may be around.
struct Scope : Object {
  Scope(Memory *memory, Ref<Scope> parent)
      : Object(memory, sizeof *this), parent(std::move(parent)) {}
  Ref<Scope> parent;
  std::vector<std::pair<int, Value>> variables;
};

struct MacroObject : Object {
  MacroObject(Memory *memory, const Statement *definition, Ref<Scope> scope)
      : Object(memory, sizeof *this), definition(definition), scope(std::move(scope)) {}
  const Statement *definition;
  Ref<Scope> scope; ///< around its definition
};

class Rendering {
public:
  Rendering(const Syntax &syntax, const Options &options);
  ~Rendering();
  /// `variables` is a JSON object. False if it fails.
  bool run(std::string_view variables, std::string &out);
  /// With the template's name and the line.
  const std::string &error() const { return failure; }
  const Options &limits() const { return options; }

  // For all that is evaluated.
  bool failed() const { return !failure.empty(); }
  /// Only the first failure counts.
  Value fail(const std::string &message);
  /// False, and fails, if no steps are left.
  bool spend(size_t count);
  /// False, and fails, if that many bytes more would be too many. Asked before they are allocated.
  bool allow(uint64_t bytes);
  /// Work on so many bytes of text.
  bool spendBytes(uint64_t bytes) { return allow(bytes) && spend(bytes / 64); }

  // Values.
  Value makeText(std::string text, bool markup = false);
  Value makeList(std::vector<Value> items);
  Value makeTuple(std::vector<Value> items);
  Value makeIterator(std::vector<Value> items);
  /// Fails if a key can be none.
  Value makeDict(DictObject::Items pairs);
  /// What fails with `message` when it is used for more than being printed or asked.
  Value makeUndefined(std::string message);
  Value makeNamespace();
  Value keep(Kind kind, Object *object);
  Memory *memory() { return &used; }

  // What expressions and filters share.
  Value getAttribute(const Value &value, const std::string &name);
  Value getItem(const Value &value, const Value &key);
  Value call(const Value &callee, Arguments &arguments);
  /// A failure that says what is missing.
  Value failUndefined(const Value &value);
  /// Bounds what calls itself in C++.
  bool enter();
  void leave() { --depth; }

private:
  enum class Flow { On, Break, Continue };

  Value evaluate(const Expression *expression);
  Value evaluateKind(const Expression &expression);
  Value evaluateChoice(const Expression &expression);
  Value evaluateName(const Expression &expression);
  Value evaluateDict(const Expression &expression);
  Value evaluateSlice(const Expression &expression);
  Value evaluateCall(const Expression &expression, const Value *caller);
  Value evaluateFilter(const Expression &expression, const Value &input);
  Value evaluateTest(const Expression &expression);
  Value evaluateCompare(const Expression &expression);
  Value evaluateConcat(const Expression &expression);
  std::vector<Value> evaluateAll(const std::vector<ExpressionPtr> &expressions);
  bool evaluateArguments(const CallArguments &from, Arguments &to);
  /// The filters of a block, the innermost of which reads its text.
  Value filterBlock(const Expression &filter, const Value &text);

  Flow execute(const Block &block);
  Flow execute(const Statement &statement);
  Flow executeIf(const Statement &statement);
  Flow executeFor(const Statement &statement);
  Flow executeIn(const Ref<Scope> &inner, const Block &block);
  Flow executeWith(const Statement &statement);
  void executeSet(const Statement &statement);
  void executeCallBlock(const Statement &statement);
  std::vector<Value> chooseItems(const Statement &statement, std::vector<Value> items);
  /// What a block prints, in a scope of its own.
  Value capture(const Block &block, const Ref<Scope> &inner, Flow &flow);

  void assign(const Expression &target, const Value &value);
  void setVariable(int symbol, const Value &value);
  Value makeMacro(const Statement &definition);
  Value callMacro(MacroObject &macro, Arguments &arguments);
  void bindParameters(const Signature &signature, Arguments &arguments);
  Ref<Scope> makeScope(Ref<Scope> parent);
  void print(const Value &value);
  bool takeVariables(std::string_view json);

  const Syntax &syntax;
  const Options &options;
  Memory used;
  size_t stepsLeft;
  int depth = 0, calls = 0, line = 1;
  std::string failure;
  std::map<std::string, Value, std::less<>> variables;
  Ref<Scope> scope;
  std::string *out = nullptr;
  const Value *blockText = nullptr; ///< what the filter of a block reads
  /// What may refer to itself; emptied at the end.
  std::vector<Ref<NamespaceObject>> namespaces;
  std::vector<Ref<Scope>> captured;
};

/// Leaves what it entered.
class Depth {
public:
  explicit Depth(Rendering &rendering) : rendering(rendering), entered(rendering.enter()) {}
  ~Depth() { rendering.leave(); }
  explicit operator bool() const { return entered; }

private:
  Rendering &rendering;
  bool entered;
};

} // namespace fovea::jinja

#endif // FOVEA_RUNTIME_TEMPLATE_RENDERING_H
