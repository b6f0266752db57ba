// RUN: fovea-opt %s -verify-diagnostics

// expected-error @below {{expects a number of parallel loops, got -1}}
#loops_c1 = #fovea.loops<parallel = -1>
