// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes, generics and ops on whole tensors. Assumes that it is asked for what can be: axes are
// declared, and a tensor has each at most once.
#include "test/smith/Writer.h"
#include <algorithm>
#include <cmath>

namespace fovea::smith {

static std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

static std::string letters(const std::string &axes) {
  std::vector<std::string> names;
  for (char axis : axes)
    names.push_back(axis == '1' ? "0" : std::string(1, axis));
  return join(names);
}

static bool has(const std::string &axes, char axis) { return axes.find(axis) != std::string::npos; }

//===-- Axes ---------------------------------------------------------------------------------===//

void Writer::declareAxis(char axis, int64_t size, const std::string &dim, char sameAs) {
  axes[axis] = {size, dim, "", "", sameAs};
}

void Writer::declareLonger(char axis, char of, int64_t more) {
  Ex size = sizeValue(of);
  axes[axis] = {isStatic(of) ? sizeOf(of) + more : -1, "", "", "", 0};
  if (isStatic(of))
    return;
  std::string count = fresh("c"), sum = fresh("size");
  line(count + " = arith.constant " + std::to_string(more) + " : index");
  line(sum + " = arith.addi " + size->op + ", " + count + " : index");
  axes[axis].value = sum;
}

char Writer::merge(const std::string &parts) {
  if (parts.size() == 1)
    return parts[0];
  for (const auto &[letter, axis] : axes)
    if (axis.parts == parts)
      return letter;
  int64_t size = 1;
  for (char part : parts)
    size = size < 0 || sizeOf(part) < 0 ? -1 : size * sizeOf(part);
  char letter = nextMerged++;
  while (axes.count(letter))
    letter = nextMerged++;
  axes[letter] = {size, "", "", parts, 0};
  return letter;
}

std::string Writer::valueOf(char letter) {
  Axis &axis = axes.at(letter);
  if (axis.sameAs)
    return valueOf(axis.sameAs);
  if (!axis.value.empty())
    return axis.value;
  if (axis.size >= 0) {
    axis.value = fresh("size");
    line(axis.value + " = arith.constant " + std::to_string(axis.size) + " : index");
    return axis.value;
  }
  // Merged axes; others get their value from an argument.
  std::string product;
  for (char part : axis.parts) {
    std::string value = valueOf(part);
    if (product.empty()) {
      product = value;
      continue;
    }
    std::string next = fresh("size");
    line(next + " = arith.muli " + product + ", " + value + " : index");
    product = next;
  }
  return axes.at(letter).value = product;
}

Ex Writer::sizeValue(char axis) {
  return isStatic(axis) ? number(sizeOf(axis), Elem::Index) : scalar(valueOf(axis), Elem::Index);
}

bool Writer::haveEqualSizes(char a, char b) const {
  auto resolve = [&](char axis) {
    while (axes.at(axis).sameAs)
      axis = axes.at(axis).sameAs;
    return axis;
  };
  return resolve(a) == resolve(b) || (isStatic(a) && sizeOf(a) == sizeOf(b));
}

std::string Writer::typeOf(const std::string &axes, Elem elem) const {
  std::string type = "tensor<";
  for (char axis : axes)
    type += (isStatic(axis) ? std::to_string(sizeOf(axis)) : "?") + "x";
  return type + nameOf(elem) + ">";
}

std::string Writer::sizesOf(const std::string &axes) {
  std::vector<std::string> values;
  for (char axis : axes)
    if (!isStatic(axis))
      values.push_back(valueOf(axis));
  return join(values);
}

std::string Writer::mapOf(const std::string &loops, const std::string &axes) const {
  return "affine_map<(" + letters(loops) + ") -> (" + letters(axes) + ")>";
}

//===-- Arguments and results ----------------------------------------------------------------===//

Tensor Writer::argument(const std::string &name, const std::string &letters, Elem elem) {
  std::string dims;
  for (size_t i = 0; i < letters.size(); ++i) {
    if (isStatic(letters[i]))
      continue;
    Axis &axis = axes.at(letters[i]);
    Axis &owner = axis.sameAs ? axes.at(axis.sameAs) : axis;
    dims += (dims.empty() ? "\"" : ", \"") + owner.dim + "\"";
    if (owner.value.empty()) {
      std::string index = fresh("c");
      owner.value = "%" + owner.dim;
      line(index + " = arith.constant " + std::to_string(i) + " : index");
      line(owner.value + " = tensor.dim %" + name + ", " + index + " : " + typeOf(letters, elem));
    }
  }
  arguments.push_back("%" + name + ": " + typeOf(letters, elem) + " {fovea.name = \"" + name +
                      "\"" + (dims.empty() ? "" : ", fovea.dims = [" + dims + "]") + "}");
  return {"%" + name, letters, elem};
}

void Writer::result(const std::string &name, const Tensor &tensor) {
  std::string dims;
  for (char letter : tensor.axes) {
    if (isStatic(letter))
      continue;
    const Axis &axis = axes.at(letter);
    const Axis &owner = axis.sameAs ? axes.at(axis.sameAs) : axis;
    std::string dim = owner.dim.empty() ? std::string("merged_") + letter : owner.dim;
    dims += (dims.empty() ? "\"" : ", \"") + dim + "\"";
  }
  results.push_back(typeOf(tensor) + " {fovea.name = \"" + name + "\"" +
                    (dims.empty() ? "" : ", fovea.dims = [" + dims + "]") + "}");
  resultTypes.push_back(typeOf(tensor));
  resultNames.push_back(tensor.name);
}

std::string Writer::finish() {
  std::string text = "func.func @forward(";
  for (size_t i = 0; i < arguments.size(); ++i)
    text += (i ? ",\n                   " : "") + arguments[i];
  text += ")\n    -> (" + join(results) + ")\n    attributes {fovea.entry} {\n" + body;
  return text + "  return " + join(resultNames) + " : " + join(resultTypes) + "\n}\n";
}

//===-- Elements -----------------------------------------------------------------------------===//

void Writer::collect(const Ex &x, std::vector<Tensor> &tensors) {
  auto isKnown = [&](const Tensor &tensor) {
    return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor &other) {
      return other.name == tensor.name && other.axes == tensor.axes;
    });
  };
  if (x->kind == Node::Read && !isKnown(x->tensor))
    tensors.push_back(x->tensor);
  for (const Ex &arg : x->args)
    collect(arg, tensors);
}

std::string Writer::scalarOp(const Ex &x, const std::vector<std::string> &operands,
                             const std::string &letters, bool onTensors) {
  auto type = [&](Elem elem) { return onTensors ? typeOf(letters, elem) : nameOf(elem); };
  const std::string &op = x->op;
  std::string text = op;
  if (op == "arith.select")
    return text + " " + join(operands) + " : " +
           (onTensors ? type(Elem::I1) + ", " + type(x->elem) : type(x->elem));
  bool isCast = op == "arith.index_cast" || op == "arith.extf" || op == "arith.truncf" ||
                op == "arith.uitofp" || op == "arith.sitofp" || op == "arith.fptosi" ||
                op == "arith.trunci" || op == "arith.extui" || op == "arith.extsi";
  if (isCast)
    return text + " " + operands[0] + " : " + type(x->args[0]->elem) + " to " + type(x->elem);
  return text + (op.find("cmp") == std::string::npos ? " " : ", ") + join(operands) + " : " +
         type(x->args[0]->elem);
}

std::string Writer::emit(const Ex &x, std::string &text, std::map<const Node *, std::string> &known,
                         std::map<std::string, std::string> &inputs) {
  if (auto it = known.find(x.get()); it != known.end())
    return it->second;
  std::string name;
  std::vector<std::string> operands;
  for (const Ex &arg : x->args)
    operands.push_back(emit(arg, text, known, inputs));
  auto add = [&](const std::string &stem, const std::string &rest) {
    name = fresh(stem);
    text += "    " + name + " = " + rest + "\n";
  };
  switch (x->kind) {
  case Node::Read:
    name = inputs.at(x->tensor.name + x->tensor.axes);
    break;
  case Node::Scalar:
    name = x->op;
    break;
  case Node::Place:
    // The loop's number is filled in by `loops`.
    add("at", std::string("linalg.index @") + x->axis + " : index");
    break;
  case Node::Number:
    add("c", x->elem == Elem::I1
                 ? "arith.constant " + printNumber(x->number, x->elem)
                 : "arith.constant " + printNumber(x->number, x->elem) + " : " + nameOf(x->elem));
    break;
  case Node::Extract:
    add("read",
        "tensor.extract " + x->tensor.name + "[" + join(operands) + "] : " + typeOf(x->tensor));
    break;
  case Node::Op:
    add("v", scalarOp(x, operands, "", false));
    break;
  }
  return known[x.get()] = name;
}

Tensor Writer::loops(const Ex &x, const std::string &result, const std::string &reduced,
                     const Tensor &init, const std::string &combiner) {
  std::vector<Tensor> tensors;
  collect(x, tensors);
  std::string order;
  for (char axis : result + reduced)
    if (axis != '1')
      order += axis;
  // Now and then in another order.
  if (random.percent(15))
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.below(static_cast<int>(i))]);
  std::vector<std::string> maps, names, types, kinds;
  std::map<std::string, std::string> inputs;
  std::string block;
  for (const Tensor &tensor : tensors) {
    maps.push_back(mapOf(order, tensor.axes));
    names.push_back(tensor.name);
    types.push_back(typeOf(tensor));
    std::string in = fresh("in");
    inputs[tensor.name + tensor.axes] = in;
    block += in + ": " + nameOf(tensor.elem) + ", ";
  }
  maps.push_back(mapOf(order, result));
  for (char axis : order)
    kinds.push_back(has(reduced, axis) ? "\"reduction\"" : "\"parallel\"");
  std::string out = fresh("acc"), text;
  std::map<const Node *, std::string> known;
  std::string value = emit(x, text, known, inputs);
  if (!combiner.empty()) {
    std::string sum = fresh("v");
    bool isSwapped = random.percent(50);
    text += "    " + sum + " = " + combiner + " " + (isSwapped ? value : out) + ", " +
            (isSwapped ? out : value) + " : " + nameOf(init.elem) + "\n";
    value = sum;
  }
  for (size_t i = 0; i < order.size(); ++i) {
    std::string pattern = std::string("linalg.index @") + order[i] + " ";
    for (size_t at; (at = text.find(pattern)) != std::string::npos;)
      text.replace(at, pattern.size(), "linalg.index " + std::to_string(i) + " ");
  }
  std::string name = fresh("t");
  line(name + " = linalg.generic {indexing_maps = [" + join(maps) + "], iterator_types = [" +
       join(kinds) + "]}");
  line("    " + (tensors.empty() ? "" : "ins(" + join(names) + " : " + join(types) + ") ") +
       "outs(" + init.name + " : " + typeOf(init) + ") {");
  line("^bb0(" + block + out + ": " + nameOf(init.elem) + "):");
  body += text;
  body += "    linalg.yield " + value + " : " + nameOf(init.elem) + "\n";
  line("} -> " + typeOf(init));
  return {name, result, init.elem};
}

//===-- Elementwise code ---------------------------------------------------------------------===//

std::string Writer::order(const std::string &free) {
  static const std::string kCanonical = "bchkgijJde";
  std::string sorted = free;
  std::sort(sorted.begin(), sorted.end(), [](char a, char b) {
    size_t x = kCanonical.find(a), y = kCanonical.find(b);
    return x != y ? x < y : a < b;
  });
  if (random.percent(8))
    for (size_t i = sorted.size(); i > 1; --i)
      std::swap(sorted[i - 1], sorted[random.below(static_cast<int>(i))]);
  return sorted;
}

Ex Writer::cut(const Ex &x, bool isRoot) {
  if (auto it = cuts.find(x.get()); it != cuts.end())
    return it->second;
  Ex result = x;
  if (!x->args.empty()) {
    auto node = std::make_shared<Node>(*x);
    for (Ex &arg : node->args)
      arg = cut(arg, false);
    result = node;
    if (!isRoot && x->elem != Elem::Index && !x->free.empty() &&
        random.percent(spelling.cutPercent)) {
      std::string axes = order(x->free);
      result = read(spelling.whole ? whole(result, axes) : generic(result, axes));
    }
  }
  if (!isRoot) {
    kept.push_back(x);
    cuts[x.get()] = result;
  }
  return result;
}

Tensor Writer::empty(const std::string &axes, Elem elem) {
  std::string sizes = sizesOf(axes), name = fresh("e");
  line(name + " = tensor.empty(" + sizes + ") : " + typeOf(axes, elem));
  return {name, axes, elem};
}

Tensor Writer::fill(const std::string &axes, Elem elem, double value) {
  Tensor init = empty(axes, elem);
  std::string constant = fresh("c"), name = fresh("f");
  line(constant + " = arith.constant " + printNumber(value, elem) +
       (elem == Elem::I1 ? "" : std::string(" : ") + nameOf(elem)));
  line(name + " = linalg.fill ins(" + constant + " : " + nameOf(elem) + ") outs(" + init.name +
       " : " + typeOf(init) + ") -> " + typeOf(init));
  return {name, axes, elem};
}

Tensor Writer::constant(const std::string &axes, Elem elem, const std::vector<double> &elements) {
  // Row-major, in brackets for each axis; nothing at all where there are no elements.
  std::string text;
  size_t at = 0;
  auto write = [&](auto &&self, size_t axis) -> void {
    if (axis == axes.size()) {
      text += printNumber(elements[at++], elem);
      return;
    }
    text += "[";
    for (int64_t i = 0; i < sizeOf(axes[axis]); ++i) {
      text += i ? ", " : "";
      self(self, axis + 1);
    }
    text += "]";
  };
  if (!elements.empty())
    write(write, 0);
  std::string name = fresh("k");
  line(name + " = arith.constant dense<" + text + "> : " + typeOf(axes, elem));
  return {name, axes, elem};
}

Tensor Writer::broadcast(const Tensor &tensor, const std::string &axes) {
  if (tensor.axes == axes)
    return tensor;
  // linalg.broadcast keeps the order of the axes that are there.
  size_t at = 0;
  std::vector<std::string> added;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (at < tensor.axes.size() && tensor.axes[at] == axes[i])
      ++at;
    else
      added.push_back(std::to_string(i));
  }
  if (at != tensor.axes.size())
    return generic(read(tensor), axes);
  Tensor init = empty(axes, tensor.elem);
  std::string name = fresh("wide");
  line(name + " = linalg.broadcast ins(" + tensor.name + " : " + typeOf(tensor) + ") outs(" +
       init.name + " : " + typeOf(init) + ") dimensions = [" + join(added) + "]");
  return {name, axes, tensor.elem};
}

Tensor Writer::whole(const Ex &x, const std::string &axes) {
  bool isPossible = x->kind == Node::Op;
  for (const Ex &arg : x->args)
    isPossible &=
        arg->elem != Elem::Index && (arg->kind == Node::Read || arg->kind == Node::Number);
  if (!isPossible || axes.empty())
    return generic(x, axes);
  std::vector<std::string> operands;
  for (const Ex &arg : x->args)
    operands.push_back(arg->kind == Node::Read ? broadcast(arg->tensor, axes).name
                                               : fill(axes, arg->elem, arg->number).name);
  std::string name = fresh("w");
  line(name + " = " + scalarOp(x, operands, axes, true));
  return {name, axes, x->elem};
}

Tensor Writer::generic(const Ex &x, const std::string &axes) {
  return loops(x, axes, "", empty(axes, x->elem), "");
}

Tensor Writer::materialise(const Ex &x, const std::string &axes) {
  Ex inner = cut(x, true);
  if (inner->kind == Node::Read && inner->tensor.axes == axes)
    return inner->tensor;
  return spelling.whole ? whole(inner, axes) : generic(inner, axes);
}

//===-- Reductions and products --------------------------------------------------------------===//

Tensor Writer::reduce(const Ex &x, const std::string &axes, char over, const std::string &combiner,
                      double init) {
  std::string op = "arith." + combiner + (isReal(x->elem) ? "f" : "i");
  if (random.percent(60)) {
    Ex inner = cut(x, true);
    return loops(inner, axes, std::string(1, over), fill(axes, x->elem, init), op);
  }
  // linalg.reduce keeps the order of the axes that stay.
  std::string all = axes;
  all.insert(all.begin() + random.below(static_cast<int>(all.size()) + 1), over);
  Tensor tensor = materialise(x, all);
  size_t at = all.find(over);
  Tensor start = fill(axes, x->elem, init);
  std::string name = fresh("r");
  line(name + " = linalg.reduce { " + op + " } ins(" + tensor.name + " : " + typeOf(tensor) +
       ") outs(" + start.name + " : " + typeOf(start) + ") dimensions = [" + std::to_string(at) +
       "]");
  return {name, axes, x->elem};
}

Tensor Writer::transpose(const Tensor &tensor, const std::string &axes) {
  if (tensor.axes == axes)
    return tensor;
  if (random.percent(30))
    return generic(read(tensor), axes);
  std::vector<std::string> order;
  for (char axis : axes)
    order.push_back(std::to_string(tensor.axes.find(axis)));
  Tensor init = empty(axes, tensor.elem);
  std::string name = fresh("turned");
  line(name + " = linalg.transpose ins(" + tensor.name + " : " + typeOf(tensor) + ") outs(" +
       init.name + " : " + typeOf(init) + ") permutation = [" + join(order) + "]");
  return {name, axes, tensor.elem};
}

/// "[[0, 1], [2]]".
static std::string printGroups(const std::vector<std::string> &groups) {
  std::string text;
  int axis = 0;
  for (const std::string &group : groups) {
    std::vector<std::string> numbers;
    for (size_t i = 0; i < group.size(); ++i)
      numbers.push_back(std::to_string(axis++));
    text += (text.empty() ? "[" : ", [") + join(numbers) + "]";
  }
  return "[" + text + "]";
}

Tensor Writer::collapse(const Tensor &tensor, const std::vector<std::string> &groups) {
  std::string axes, name = fresh("flat");
  for (const std::string &group : groups)
    axes += merge(group);
  if (axes == tensor.axes)
    return tensor;
  line(name + " = tensor.collapse_shape " + tensor.name + " " + printGroups(groups) + " : " +
       typeOf(tensor) + " into " + typeOf(axes, tensor.elem));
  return {name, axes, tensor.elem};
}

Tensor Writer::split(const Tensor &tensor, char merged) {
  if (merged == '1' || axes.at(merged).parts.empty())
    return tensor;
  std::vector<std::string> groups, sizes;
  std::string result;
  for (char axis : tensor.axes) {
    groups.push_back(axis == merged ? axes.at(axis).parts : std::string(1, axis));
    result += groups.back();
  }
  for (char axis : result)
    sizes.push_back(isStatic(axis) ? std::to_string(sizeOf(axis)) : valueOf(axis));
  std::string name = fresh("split");
  line(name + " = tensor.expand_shape " + tensor.name + " " + printGroups(groups) +
       " output_shape [" + join(sizes) + "] : " + typeOf(tensor) + " into " +
       typeOf(result, tensor.elem));
  return {name, result, tensor.elem};
}

Tensor Writer::softmax(const Tensor &tensor, char over) {
  Tensor init = empty(tensor.axes, tensor.elem);
  std::string name = fresh("p");
  line(name + " = linalg.softmax dimension(" + std::to_string(tensor.axes.find(over)) + ") ins(" +
       tensor.name + " : " + typeOf(tensor) + ") outs(" + init.name + " : " + typeOf(init) +
       ") -> " + typeOf(init));
  return {name, tensor.axes, tensor.elem};
}

Tensor Writer::concat(const std::vector<Tensor> &parts, char over, char result) {
  std::string axes = parts[0].axes;
  size_t at = axes.find(over);
  axes[at] = result;
  std::vector<std::string> names, types;
  for (const Tensor &part : parts) {
    names.push_back(part.name);
    types.push_back(typeOf(part));
  }
  std::string name = fresh("both");
  line(name + " = tensor.concat dim(" + std::to_string(at) + ") " + join(names) + " : (" +
       join(types) + ") -> " + typeOf(axes, parts[0].elem));
  return {name, axes, parts[0].elem};
}

Tensor Writer::slice(const Tensor &tensor, char axis, int64_t first, char as) {
  std::vector<std::string> offsets, sizes, strides;
  std::string result = tensor.axes;
  for (char &letter : result) {
    offsets.push_back(letter == axis ? std::to_string(first) : "0");
    if (letter == axis)
      letter = as;
    sizes.push_back(isStatic(letter) ? std::to_string(sizeOf(letter)) : valueOf(letter));
    strides.push_back("1");
  }
  std::string name = fresh("part");
  line(name + " = tensor.extract_slice " + tensor.name + "[" + join(offsets) + "] [" + join(sizes) +
       "] [" + join(strides) + "] : " + typeOf(tensor) + " to " + typeOf(result, tensor.elem));
  return {name, result, tensor.elem};
}

Tensor Writer::contract(const Ex &a, const Ex &b, const std::string &axes, Elem elem,
                        Product product) {
  std::string summed, shared, left, right;
  for (char axis : a->free) {
    if (!has(axes, axis))
      summed += axis;
    else if (has(b->free, axis))
      shared += axis;
    else
      left += axis;
  }
  for (char axis : b->free)
    if (has(axes, axis) && !has(shared, axis))
      right += axis;
  if (product == Product::Generic) {
    Ex x = arith("mul", convert(a, elem), convert(b, elem));
    return loops(cut(x, true), axes, summed, fill(axes, elem, 0), "arith.addf");
  }
  if (product == Product::MultiplyAndReduce && summed.size() == 1)
    return reduce(arith("mul", convert(a, elem), convert(b, elem)), axes, summed[0], "add", 0);
  bool isMatmul = product == Product::Matmul && !left.empty() && !right.empty() &&
                  !summed.empty() && a->elem == elem && b->elem == elem;
  if (isMatmul) {
    // [shared, left, summed] x [shared, summed, right], each one axis.
    auto flatten = [&](const Ex &x, const std::string &first, const std::string &second) {
      Tensor tensor = x->kind == Node::Read ? transpose(x->tensor, shared + first + second)
                                            : materialise(x, shared + first + second);
      std::vector<std::string> groups = {first, second};
      if (!shared.empty())
        groups.insert(groups.begin(), shared);
      return collapse(tensor, groups);
    };
    Tensor x = flatten(a, left, summed), y = flatten(b, summed, right);
    std::string flat =
        (shared.empty() ? "" : std::string(1, merge(shared))) + merge(left) + merge(right);
    Tensor init = fill(flat, elem, 0);
    std::string name = fresh("product");
    line(name + " = linalg." + (shared.empty() ? "matmul" : "batch_matmul") + " ins(" + x.name +
         ", " + y.name + " : " + typeOf(x) + ", " + typeOf(y) + ") outs(" + init.name + " : " +
         typeOf(init) + ") -> " + typeOf(init));
    Tensor result = {name, flat, elem};
    for (const std::string &group : {shared, left, right})
      if (group.size() > 1)
        result = split(result, merge(group));
    return transpose(result, axes);
  }
  auto tensorOf = [&](const Ex &x) {
    return x->kind == Node::Read ? x->tensor : materialise(x, order(x->free));
  };
  Tensor x = tensorOf(a), y = tensorOf(b), init = fill(axes, elem, 0);
  std::string loops = axes + summed, name = fresh("product");
  line(name + " = linalg.contract indexing_maps = [" + mapOf(loops, x.axes) + ", " +
       mapOf(loops, y.axes) + ", " + mapOf(loops, axes) + "]");
  line("    ins(" + x.name + ", " + y.name + " : " + typeOf(x) + ", " + typeOf(y) + ") outs(" +
       init.name + " : " + typeOf(init) + ") -> " + typeOf(init));
  return {name, axes, elem};
}

} // namespace fovea::smith
