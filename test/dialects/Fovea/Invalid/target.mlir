// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.target refuses, by the number of the constraint.

// expected-error @below {{expects the name of a level, got none}}
func.func private @target_c1() attributes {schedule = #fovea.target<"", lanes = 4, registers = 16>}

// -----

// expected-error @below {{expects positive registers, got 0}}
func.func private @target_c2_registers() attributes {schedule = #fovea.target<"sse", lanes = 4, registers = 0>}

// -----

// expected-error @below {{expects positive lanes, got -4}}
func.func private @target_c2_lanes() attributes {schedule = #fovea.target<"sse", lanes = -4, registers = 16>}

// -----

// expected-error @below {{expects lanes that are a power of two, got 6}}
func.func private @target_c2_power() attributes {schedule = #fovea.target<"sse", lanes = 6, registers = 16>}

// -----

// expected-error @below {{expects 'fovea.target' on a module}}
func.func private @target_on_a_function() attributes {fovea.target = #fovea.target<"sse", lanes = 4, registers = 16>}

// -----

// expected-error @below {{expects 'fovea.target' to be a target, got "sse"}}
module attributes {fovea.target = "sse"} {}
