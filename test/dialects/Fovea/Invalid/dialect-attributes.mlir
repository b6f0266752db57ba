// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// Attributes of the dialect where they do not belong, or of the wrong kind.

// expected-error @below {{has unknown attribute 'fovea.entrance'}}
func.func @unknown_attribute() attributes {fovea.entrance} {
  return
}

// -----

// expected-error @below {{expects 'fovea.threads' to be a positive integer, got 0 : i32}}
func.func private @no_threads() attributes {fovea.threads = 0 : i32}

// -----

func.func @entry_elsewhere() {
  // expected-error @below {{expects 'fovea.entry' on a function}}
  %c = arith.constant {fovea.entry} 1 : i32
  return
}

// -----

// expected-error @below {{expects 'fovea.entry' to be a unit attribute, got true}}
func.func @entry_value() attributes {fovea.entry = true} {
  return
}

// -----

// expected-error @below {{expects 'fovea.computes' to be text, got 3}}
func.func private @computes_number() attributes {fovea.computes = 3 : i64}

// -----

func.func @schedule_elsewhere() {
  // expected-error @below {{expects 'fovea.schedule' on a function}}
  %c = arith.constant {fovea.schedule = "x"} 1 : i32
  return
}

// -----

// expected-error @below {{expects 'fovea.labels' to be an array of strings, got [1]}}
module attributes {fovea.labels = [1]} {}

// -----

// expected-error @below {{expects 'fovea.score_function' to be "softmax", "sigmoid" or "none", got "tanh"}}
module attributes {fovea.score_function = "tanh"} {}

// -----

// expected-error @below {{expects 'fovea.images' to be settings of images, got {mean = array<f64: 5.000000e-01>}}}
module attributes {fovea.images = {mean = array<f64: 0.5>}} {}

// -----

// expected-error @below {{expects 'fovea.images' to be settings of images}}
module attributes {fovea.images = {deviation = array<f64: 0.0>, mean = array<f64: 0.5>, scale = 1.0}} {}

// -----

// expected-error @below {{expects 'fovea.images' to be settings of images}}
module attributes {fovea.images = {deviation = array<f64: 1.0>, filter = "cubic", mean = array<f64: 0.5>, resize = array<i32: 2, 3>, scale = 1.0}} {}

// -----

// expected-error @below {{expects 'fovea.images' to be settings of images}}
module attributes {fovea.images = {deviation = array<f64: 1.0>, filter = "box", mean = array<f64: 0.5>, scale = 1.0}} {}

// -----

// expected-error @below {{expects 'fovea.images' to be settings of images}}
module attributes {fovea.images = {crop = array<i32: 0, 3>, deviation = array<f64: 1.0>, mean = array<f64: 0.5>, scale = 1.0}} {}

// -----

// expected-error @below {{expects 'fovea.images' to be settings of images}}
module attributes {fovea.images = {deviation = array<f64: 1.0>, mean = array<f64: 0.5>, scale = 1.0, size = 3}} {}

// -----

// expected-error @below {{expects 'fovea.sampling_rate' to be a positive integer, got 0}}
module attributes {fovea.sampling_rate = 0} {}

// -----

// expected-error @below {{expects 'fovea.begin_suppressed_tokens' to be array<i64> of tokens, got array<i64: 1, -2>}}
module attributes {fovea.begin_suppressed_tokens = array<i64: 1, -2>} {}

// -----

// expected-error @below {{expects 'fovea.prompt' to be an array of tokens, each [name, token, [names], array<i64: tokens>], got}}
module attributes {fovea.prompt = [["language", -1, ["en", "de"], array<i64: 7>]]} {}

// -----

// expected-error @below {{expects 'fovea.prompt' to be an array of tokens}}
module attributes {fovea.prompt = [["", -1, [], array<i64>]]} {}

// -----

// expected-error @below {{expects 'fovea.labels' on a module}}
func.func private @labelled() attributes {fovea.labels = ["a"]}
