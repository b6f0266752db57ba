// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parsed template: statements and expressions, each with its line.
#ifndef FOVEA_RUNTIME_TEMPLATE_SYNTAX_H
#define FOVEA_RUNTIME_TEMPLATE_SYNTAX_H

#include "runtime/template/Value.h"

#include <memory>

namespace fovea::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

/// Of a call, a filter or a test.
struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> keyword;
  ExpressionPtr list, mapping; ///< behind * and **; may be null
};

struct Expression {
  enum class Kind {
    Constant,
    Name,
    NamespaceAttribute, ///< as a target of `set` only: a name and an attribute
    List,
    Tuple,
    Dict,      ///< keys and values in turn
    Attribute, ///< operands[0].name
    Item,      ///< operands[0][operands[1]]
    Slice,     ///< operands[0][operands[1]:operands[2]:operands[3]], each but the first may be null
    Call,
    Filter, ///< operands[0], null in a block's filter: the block's text
    Test,
    Not,
    Negative,
    Positive,
    Arithmetic, ///< by `operation`
    Concat,
    Compare, ///< operands[0] operations[0] operands[1] operations[1] ...
    And,
    Or,
    Conditional ///< operands[0] ? operands[1] : operands[2], which may be null
  };

  Kind kind;
  int line;
  int depth = 1;
  std::string name; ///< of a name, attribute, filter or test
  int symbol = -1;  ///< of a name
  Value constant;
  std::vector<ExpressionPtr> operands;
  std::vector<std::string> operations;
  std::unique_ptr<CallArguments> arguments;
};

struct Statement;
using Block = std::vector<std::unique_ptr<Statement>>;

/// Of a macro, or of what a call block hands on as `caller`.
struct Signature {
  std::string name;
  std::vector<std::string> names;
  std::vector<int> symbols;
  std::vector<ExpressionPtr> defaults; ///< of the last parameters
  bool usesCaller = false, usesKeywords = false, usesPositional = false;
};

struct Branch {
  ExpressionPtr condition; ///< null: else
  Block body;
};

struct Statement {
  enum class Kind {
    Text,
    Print,
    For,
    If,
    Set,
    SetBlock,
    Macro,
    CallBlock,
    FilterBlock,
    With,
    Generation,
    Break,
    Continue
  };

  Kind kind;
  int line;
  std::string text;
  ExpressionPtr target, expression; ///< For: the iterable. Blocks: the filter, or the call
  ExpressionPtr condition;          ///< For: which items
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> assignments; ///< With
  std::vector<Branch> branches;                                     ///< If
  Block body, otherwise;
  int symbol = -1; ///< of a macro
  std::unique_ptr<Signature> signature;
};

struct Syntax {
  std::string name; ///< for messages: the file
  Block body;
  std::vector<std::string> symbols;
  int loop = -1, caller = -1, keywords = -1, positional = -1; ///< symbols with a meaning
};

} // namespace fovea::jinja

#endif // FOVEA_RUNTIME_TEMPLATE_SYNTAX_H
