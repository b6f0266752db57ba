// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What a scaling of rotary frequencies refuses, kind by kind.

// expected-error @below {{expects a positive finite factor for 'linear', got none}}
#rope_scaling_c1_missing = #fovea.rope_scaling<linear>

// -----

// expected-error @below {{expects a positive finite factor for 'linear', got -2}}
#rope_scaling_c1_negative = #fovea.rope_scaling<linear, factor = -2.0 : f64>

// -----

// expected-error @below {{expects a positive original context for 'dynamic', got 0}}
#rope_scaling_c2 = #fovea.rope_scaling<dynamic, factor = 2.0 : f64>

// -----

// expected-error @below {{expects positive finite low and high for 'yarn', got none and 3.200000e+01 : f64}}
#rope_scaling_c3_missing = #fovea.rope_scaling<yarn, factor = 2.0 : f64, original = 64, high = 32.0 : f64>

// -----

// expected-error @below {{expects low not above high for 'yarn', got 3.300000e+01 : f64 and 3.200000e+01 : f64}}
#rope_scaling_c3_yarn = #fovea.rope_scaling<yarn, factor = 2.0 : f64, original = 64, low = 33.0 : f64, high = 32.0 : f64>

// -----

// expected-error @below {{expects low below high for 'llama3', got 4.000000e+00 : f64 and 4.000000e+00 : f64}}
#rope_scaling_c3_llama3 = #fovea.rope_scaling<llama3, factor = 2.0 : f64, original = 64, low = 4.0 : f64, high = 4.0 : f64>

// -----

// expected-error @below {{expects short and long factors of equal number for 'longrope', got 2 and 1}}
#rope_scaling_c4_number = #fovea.rope_scaling<longrope, original = 64, shortFactors = [1.0, 1.0], longFactors = [1.0]>

// -----

// expected-error @below {{expects positive finite factors for 'longrope', got array<f64: 1.000000e+00, 1.000000e+00> and array<f64: 1.000000e+00, 0.000000e+00>}}
#rope_scaling_c4_zero = #fovea.rope_scaling<longrope, original = 64, shortFactors = [1.0, 1.0], longFactors = [1.0, 0.0]>

// -----

// expected-error @below {{expects a positive finite attentionFactor, got 0.000000e+00 : f64}}
#rope_scaling_c5 = #fovea.rope_scaling<longrope, original = 64, attentionFactor = 0.0 : f64, shortFactors = [1.0], longFactors = [1.0]>
