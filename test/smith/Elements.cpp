// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions of elements: what the writer is given. Nothing here writes.
#include "test/smith/Writer.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace fovea::smith {

const char *nameOf(Elem elem) {
  static constexpr const char *kNames[] = {"f16", "bf16", "f32", "f64",
                                           "i1",  "i32",  "i64", "index"};
  return kNames[static_cast<int>(elem)];
}

bool isReal(Elem elem) { return elem <= Elem::F64; }

static void addFree(std::string &free, const std::string &axes) {
  for (char axis : axes)
    if (axis != '1' && free.find(axis) == std::string::npos)
      free += axis;
}

static std::shared_ptr<Node> make(Node::Kind kind, Elem elem) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->elem = elem;
  return node;
}

Ex read(const Tensor &tensor) {
  auto node = make(Node::Read, tensor.elem);
  node->tensor = tensor;
  addFree(node->free, tensor.axes);
  return node;
}

Ex extract(const Tensor &tensor, std::vector<Ex> indices) {
  auto node = make(Node::Extract, tensor.elem);
  node->tensor = tensor;
  for (const Ex &index : indices)
    addFree(node->free, index->free);
  node->args = std::move(indices);
  return node;
}

Ex place(char axis) {
  auto node = make(Node::Place, Elem::Index);
  node->axis = axis;
  node->free = axis;
  return node;
}

Ex number(double value, Elem elem) {
  auto node = make(Node::Number, elem);
  node->number = value;
  return node;
}

Ex scalar(const std::string &name, Elem elem) {
  auto node = make(Node::Scalar, elem);
  node->op = name;
  return node;
}

Ex apply(const std::string &op, std::vector<Ex> args, Elem elem) {
  auto node = make(Node::Op, elem);
  node->op = op;
  for (const Ex &arg : args)
    addFree(node->free, arg->free);
  node->args = std::move(args);
  return node;
}

Ex arith(const std::string &name, Ex a, Ex b) {
  Elem elem = a->elem;
  bool isBare = name == "minimum" || name == "maximum" || name == "add" || name == "sub" ||
                name == "mul" || name == "div" || name == "and" || name == "or" || name == "xor";
  std::string op = "arith." + name;
  if (isBare)
    op += isReal(elem) ? "f" : "i";
  return apply(op, {std::move(a), std::move(b)}, elem);
}

Ex math(const std::string &name, Ex a) {
  Elem elem = a->elem;
  return apply("math." + name, {std::move(a)}, elem);
}

Ex compare(const std::string &predicate, Ex a, Ex b) {
  return apply((isReal(a->elem) ? "arith.cmpf " : "arith.cmpi ") + predicate,
               {std::move(a), std::move(b)}, Elem::I1);
}

Ex select(Ex condition, Ex yes, Ex no) {
  Elem elem = yes->elem;
  return apply("arith.select", {std::move(condition), std::move(yes), std::move(no)}, elem);
}

Ex negate(Ex condition) { return arith("xor", std::move(condition), number(1, Elem::I1)); }

Ex convert(Ex x, Elem elem) {
  auto width = [](Elem e) {
    switch (e) {
    case Elem::I1:
      return 1;
    case Elem::F16:
    case Elem::BF16:
      return 16;
    case Elem::F32:
    case Elem::I32:
      return 32;
    default:
      return 64;
    }
  };
  Elem from = x->elem;
  if (from == elem)
    return x;
  if (from == Elem::Index && isReal(elem))
    return convert(convert(std::move(x), Elem::I64), elem);
  if (from == Elem::Index || elem == Elem::Index)
    return apply("arith.index_cast", {std::move(x)}, elem);
  if (isReal(from) && isReal(elem)) {
    // f16 and bf16 meet in f32.
    if (width(from) == width(elem))
      return convert(convert(std::move(x), Elem::F32), elem);
    return apply(width(from) < width(elem) ? "arith.extf" : "arith.truncf", {std::move(x)}, elem);
  }
  if (isReal(elem))
    return apply(from == Elem::I1 ? "arith.uitofp" : "arith.sitofp", {std::move(x)}, elem);
  if (isReal(from))
    return apply("arith.fptosi", {std::move(x)}, elem);
  if (width(from) > width(elem))
    return apply("arith.trunci", {std::move(x)}, elem);
  return apply(from == Elem::I1 ? "arith.extui" : "arith.extsi", {std::move(x)}, elem);
}

std::string printNumber(double value, Elem elem) {
  if (!isReal(elem)) {
    if (elem == Elem::I1)
      return value ? "true" : "false";
    return std::to_string(static_cast<int64_t>(value));
  }
  if (std::isinf(value)) {
    static constexpr const char *kInfinities[] = {"0x7C00", "0x7F80", "0x7F800000",
                                                  "0x7FF0000000000000"};
    static constexpr const char *kNegative[] = {"0xFC00", "0xFF80", "0xFF800000",
                                                "0xFFF0000000000000"};
    return (value < 0 ? kNegative : kInfinities)[static_cast<int>(elem)];
  }
  char text[64];
  std::snprintf(text, sizeof text, elem == Elem::F64 ? "%.17e" : "%.8e", value);
  return text;
}

} // namespace fovea::smith
