// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products: MatMul, Gemm, Einsum.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

static LogicalResult importMatMul(Importer &im) {
  Data *a = im.input(0), *c = im.input(1);
  if (!a || !c || a->type != c->type)
    return im.invalid("expects two operands of one element type");
  return im.setResult(im.matmul(*a, *c));
}

static LogicalResult importGemm(Importer &im) {
  Data *a = im.input(0), *c = im.input(1);
  if (!a || !c || a->rank() != 2 || c->rank() != 2 || a->type != c->type)
    return im.invalid("expects two matrices of one element type");
  double alpha = im.real("alpha", 1), beta = im.real("beta", 1);
  bool transA = im.integer("transA", 0), transB = im.integer("transB", 0);
  TRY(auto *result, im.contract(*a, transA ? "km" : "mk", *c, transB ? "nk" : "kn", "mn", a->type));
  auto scaled = [&](Data *x, double factor) -> FailureOr<Data *> {
    if (factor == 1)
      return x;
    if (!isFloat(x->type))
      return im.unsupported("factors of integers; expects alpha and beta to be 1");
    return im.binary("Mul", x, im.makeReal(x->type, factor));
  };
  TRY(result, scaled(result, alpha));
  if (Data *bias = im.input(2)) {
    TRY(bias, scaled(bias, beta));
    result = im.binary("Add", result, bias);
  }
  return im.setResult(result);
}

/// Where a letter stands twice in a term, the elements at which both places agree.
static Data *takeDiagonals(Importer &im, Data *x, std::string &letters) {
  for (size_t i = 0; i < letters.size(); ++i) {
    size_t other = letters.find(letters[i], i + 1);
    if (other == std::string::npos)
      continue;
    SmallVector<Sym> shape(x->shape);
    shape.erase(shape.begin() + other);
    Value source = im.value(*x);
    Value last = im.symbols.materialize(im.symbols.sub(x->shape[other], im.number(1)));
    x = im.generate(x->type, shape, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> at) {
      SmallVector<Value> from(at);
      from.insert(from.begin() + other, arith::MinSIOp::create(b, at[i], last));
      return tensor::ExtractOp::create(b, source, from).getResult();
    });
    letters.erase(other, 1);
    --i;
  }
  return x;
}

/// The letters of a term, "..." spelt out by capitals that count from the end.
static FailureOr<std::string> readTerm(Importer &im, StringRef term, int64_t rank, int64_t &extra) {
  std::string letters = term.str();
  letters.erase(std::remove(letters.begin(), letters.end(), ' '), letters.end());
  size_t dots = letters.find("...");
  if (dots != std::string::npos) {
    int64_t named = letters.size() - 3, open = rank < 0 ? extra : rank - named;
    if (open < 0 || open > 20)
      return im.invalid("expects a term that fits rank " + Twine(rank) + ", got '" + term + "'");
    extra = std::max(extra, open);
    std::string spelt;
    for (int64_t i = open; i-- > 0;)
      spelt += static_cast<char>('\x01' + i);
    letters = letters.substr(0, dots) + spelt + letters.substr(dots + 3);
  }
  if (rank >= 0 && static_cast<int64_t>(letters.size()) != rank)
    return im.invalid("expects a term of " + Twine(rank) + " axes, got '" + term + "'");
  for (char letter : letters) {
    if (!(letter > 0 && letter < 32) && !llvm::isAlpha(letter))
      return im.invalid("expects letters, got '" + term + "'");
  }
  return letters;
}

static bool isInAny(ArrayRef<std::string> terms, char letter) {
  return llvm::any_of(terms,
                      [&](const std::string &term) { return llvm::is_contained(term, letter); });
}

/// The result's letters where the equation does not say them: broadcast axes, then letters that
/// stand once, in order.
static std::string getImplicitResult(StringRef left, int64_t extra) {
  std::string result, once;
  for (int64_t i = extra; i-- > 0;)
    result += static_cast<char>('\x01' + i);
  for (char letter : left)
    if (llvm::isAlpha(letter) && llvm::count(left, letter) == 1)
      once += letter;
  llvm::sort(once);
  return result + once;
}

/// Sums over the letters that are not `needed`, and takes them out of `own`.
static Data *sumOut(Importer &im, Data *x, std::string &own, ArrayRef<std::string> needed) {
  SmallVector<int64_t> summed;
  std::string kept;
  for (auto [i, letter] : llvm::enumerate(own)) {
    if (isInAny(needed, letter))
      kept += letter;
    else
      summed.push_back(i);
  }
  own = kept;
  return summed.empty() ? x : im.reduce(*x, summed, false, Importer::Reduction::Sum);
}

/// Contracts operands one by one to a tensor of the letters `out`.
static FailureOr<Data *> contractAll(Importer &im, ArrayRef<Data *> operands,
                                     ArrayRef<std::string> letters, const std::string &out) {
  // Letters that nothing else asks for are summed at once.
  auto with = [](ArrayRef<std::string> rest, std::initializer_list<std::string> more) {
    SmallVector<std::string> all(rest);
    all.append(more);
    return all;
  };
  std::string have = letters.front();
  Data *result = sumOut(im, operands.front(), have, with(letters.drop_front(), {out}));
  for (size_t i = 1; i < operands.size(); ++i) {
    ArrayRef<std::string> later = letters.drop_front(i + 1);
    std::string own = letters[i], target;
    Data *next = sumOut(im, operands[i], own, with(later, {have, out}));
    if (later.empty()) {
      target = out;
    } else {
      for (char letter : have + own)
        if (isInAny(with(later, {out}), letter) && !llvm::is_contained(target, letter))
          target += letter;
    }
    TRY(result, im.contract(*result, have, *next, own, target, result->type));
    have = target;
  }
  if (have == out)
    return result;
  return im.transpose(
      *result, llvm::map_to_vector(out, [&](char letter) -> int64_t { return have.find(letter); }));
}

static LogicalResult importEinsum(Importer &im) {
  std::string equation = im.text("equation", "");
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  SmallVector<Data *> operands = im.inputs();
  if (terms.size() != operands.size() || operands.empty())
    return im.invalid("expects a term for each of " + Twine(operands.size()) + " operands, got " +
                      Twine(terms.size()));
  int64_t extra = 0;
  SmallVector<std::string> letters;
  for (auto [term, operand] : llvm::zip(terms, operands)) {
    if (!operand)
      return im.invalid("expects operands, got none");
    TRY(std::string read, readTerm(im, term, operand->rank(), extra));
    operand = takeDiagonals(im, operand, read);
    letters.push_back(read);
  }
  std::string out;
  if (StringRef(equation).contains("->")) {
    TRY(out, readTerm(im, right, -1, extra));
  } else {
    out = getImplicitResult(left, extra);
  }
  for (char letter : out)
    if (llvm::count(out, letter) > 1)
      return im.invalid("expects distinct letters in the result");
  for (char letter : out)
    if (!isInAny(letters, letter))
      return im.invalid("expects results' letters in a term");
  TRY(Data * result, contractAll(im, operands, letters, out));
  return im.setResult(result);
}

void mlir::fovea::onnx::addContractionOps(OpTable &table) {
  table.add("Einsum", 13, importEinsum);
  table.add("Gemm", 13, importGemm);
  table.add("MatMul", 13, importMatMul);
}
