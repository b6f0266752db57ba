// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.name and fovea.dims refuse on arguments and results.

// expected-error @below {{expects 'fovea.name' to be a name, got ""}}
func.func private @name_empty(i32 {fovea.name = ""})

// -----

// expected-error @below {{expects 'fovea.name' to be a name, got 3}}
func.func private @name_number() -> (i32 {fovea.name = 3 : i64})

// -----

// expected-error @below {{expects 'fovea.dims' to be an array of names, got ["batch", 4}}
func.func private @dims_number(tensor<?x?xf32> {fovea.dims = ["batch", 4 : i64]})

// -----

// expected-error @below {{expects 'fovea.dims' to name 2 dynamic sizes, got 1}}
func.func private @dims_count(tensor<?x3x?xf32> {fovea.dims = ["batch"]})

// -----

// expected-error @below {{expects 'fovea.dims' to name 2 dynamic sizes, got 1}}
func.func private @dims_cache(!fovea.cache<key, 2x4xf32> {fovea.dims = ["batch"]})

// -----

// expected-error @below {{expects 'fovea.dims' to name 0 dynamic sizes, got 1}}
func.func private @dims_scalar() -> (i32 {fovea.dims = ["batch"]})

// -----

// expected-error @below {{has unknown argument attribute 'fovea.title'}}
func.func private @unknown_argument_attribute(i32 {fovea.title = "x"})
