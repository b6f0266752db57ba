// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The yardstick of scripts/bench: `fovea-peaks THREADS` takes one sample of the
// machine's limits for each line it reads, and answers each with a line of JSON.
#include "tools/peaks/Peaks.h"

#include <cstdlib>
#include <iostream>
#include <string>

int main(int argc, char **argv) {
  char *end = nullptr;
  long threads = argc == 2 ? std::strtol(argv[1], &end, 10) : 0;
  if (argc != 2 || *end || threads < 1 || threads > 1024) {
    std::cerr << "usage: fovea-peaks THREADS (1 to 1024), then a line on standard input for each "
                 "sample\n";
    return 1;
  }
  fovea::Peaks peaks(static_cast<int>(threads));
  for (std::string line; std::getline(std::cin, line);) {
    fovea::Peaks::Sample sample = peaks.sample();
    std::cout << "{\"flops_per_second\": " << sample.flops
              << ", \"bytes_per_second\": " << sample.bandwidth << "}" << std::endl;
  }
}
