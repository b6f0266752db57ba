// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `verify` found, as a table and as JSON.
#include "tools/verify/Verify.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::verify;

/// Lines about branches in a table; JSON has all.
static constexpr size_t kMostBranches = 20;

static void printBranches(llvm::raw_ostream &os, const Branches &branches) {
  for (const Unreached &one : ArrayRef(branches.unreached).take_front(kMostBranches)) {
    os << "never reached: " << one.op << " at " << one.location << " (" << one.side;
    if (one.count > 1)
      os << ", of " << one.count << " such ops";
    os << ")\n";
  }
  if (branches.unreached.size() > kMostBranches)
    os << "and " << branches.unreached.size() - kMostBranches << " more; --json lists all\n";
  if (branches.nanTests)
    os << branches.nanTests << (branches.nanTests == 1 ? " test" : " tests")
       << " for NaN or infinity found none\n";
}

/// What stands below the rows.
static void printSummary(llvm::raw_ostream &os, const Report &report) {
  size_t bad = llvm::count_if(report.rows, [](const Row &row) { return !row.passed(); });
  for (const std::string &note : report.notes)
    os << "note: " << note << "\n";
  printBranches(os, report.branches);
  if (bad == 0) {
    os << report.rows.size() << " outputs agree"
       << (report.isComplete ? "\n" : "; what comes behind them could not be run\n");
    return;
  }
  os << bad << " of " << report.rows.size() << " outputs depart\n";
  if (!report.departure)
    return;
  if (!report.departure->found) {
    os << "no op of '" << report.departedEntry
       << "' departs when its result is looked at: the fault lies in how ops are fused\n";
    return;
  }
  os << "the first op of '" << report.departedEntry << "' that departs is " << report.departure->op
     << " of " << report.departure->location << ": "
     << llvm::format("%.1e", report.departure->difference.error) << " at "
     << report.departure->difference.where << "\n";
}

void verify::printTable(llvm::raw_ostream &os, const Report &report) {
  size_t entry = 5, what = 4, output = 6;
  for (const Row &row : report.rows) {
    entry = std::max(entry, row.entry.size());
    what = std::max(what, row.what.size());
    output = std::max(output, row.output.size());
  }
  auto line = [&](StringRef a, StringRef b, StringRef c) -> llvm::raw_ostream & {
    return os << llvm::left_justify(a, entry) << "  " << llvm::left_justify(b, what) << "  "
              << llvm::left_justify(c, output) << "  ";
  };
  line("entry", "case", "output") << "error    bound\n";
  for (const Row &row : report.rows) {
    line(row.entry, row.what, row.output)
        << llvm::format("%-7.1e  %-7.1e", row.difference.error, row.bound);
    if (!row.passed())
      os << "  DEPARTS at " << row.difference.where;
    os << "\n";
  }
  printSummary(os, report);
}

static llvm::json::Value number(double value) {
  return std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr);
}

void verify::printJson(llvm::raw_ostream &os, const Report &report) {
  llvm::json::Array rows;
  for (const Row &row : report.rows)
    rows.push_back(llvm::json::Object{{"entry", row.entry},
                                      {"case", row.what},
                                      {"output", row.output},
                                      {"error", number(row.difference.error)},
                                      {"bound", number(row.bound)},
                                      {"where", row.difference.where},
                                      {"passed", row.passed()}});
  llvm::json::Array unreached;
  for (const Unreached &one : report.branches.unreached)
    unreached.push_back(llvm::json::Object{
        {"op", one.op}, {"location", one.location}, {"side", one.side}, {"count", one.count}});
  llvm::json::Object all{{"passed", report.passed()},
                         {"rows", std::move(rows)},
                         {"notes", llvm::json::Array(report.notes)},
                         {"unreached", std::move(unreached)},
                         {"nan_tests", report.branches.nanTests}};
  if (report.departure && report.departure->found)
    all["departure"] = llvm::json::Object{{"entry", report.departedEntry},
                                          {"op", report.departure->op},
                                          {"location", report.departure->location},
                                          {"error", number(report.departure->difference.error)},
                                          {"where", report.departure->difference.where}};
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(all))) << "\n";
}
