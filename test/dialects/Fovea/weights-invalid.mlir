// RUN: fovea-opt %s -split-input-file -verify-diagnostics

func.func @model_c1() {
  // expected-error @below {{expects to stand in a module}}
  fovea.model "llama" in "models"
  return
}

// -----

fovea.model "llama" in "models"
// expected-error @below {{expects to be the only one in its module}}
fovea.model "bert" in "models"

// -----

// expected-error @below {{expects max_positions of at least 1, got 0}}
fovea.model "model_c3_positions" in "models" {max_positions = 0 : i64}

// -----

// expected-error @below {{expects vocabulary of at least 1, got -5}}
fovea.model "model_c3_vocabulary" in "models" {vocabulary = -5 : i64}

// -----

// expected-error @below {{expects begin_token of at least 0, got -1}}
fovea.model "model_c3_begin" in "models" {begin_token = -1 : i64}

// -----

// expected-error @below {{expects pad_token of at least 0, got -1}}
fovea.model "model_c3_pad" in "models" {pad_token = -1 : i64}

// -----

// expected-error @below {{expects end_tokens of at least 0, got -2}}
fovea.model "model_c3_end" in "models" {end_tokens = array<i64: 3, -2>}

// -----

// expected-error @below {{expects a recipe for 'tensor<2x3xf32>', got one for 'tensor<3x2xf32>'}}
fovea.weight @weight_c1_shape : tensor<2x3xf32> = #fovea.stored<"a", "w", tensor<3x2xf32>>

// -----

// expected-error @below {{expects a recipe for 'tensor<2xf32>', got one for 'tensor<2xbf16>'}}
fovea.weight @weight_c1_element_type : tensor<2xf32> = #fovea.stored<"a", "w", tensor<2xbf16>>

// -----

// expected-error @below {{expects a recipe, got 1 : i64}}
fovea.weight @weight_c1_no_recipe : tensor<2xf32> = 1 : i64

// -----

// expected-error @below {{expects a static shape, got 'tensor<?xf32>'}}
fovea.weight @weight_c3 : tensor<?xf32> = #fovea.stored<"a", "w", tensor<2xf32>>

// -----

// expected-error @below {{expects a recipe, got "w"}}
fovea.weight @weight_c2_inner : tensor<2x2xf32> = #fovea.pack<#fovea.transpose<"w">>

// -----

// expected-error @below {{expects a stored tensor of static shape, got 'tensor<?xf32>'}}
fovea.weight @stored_c1_shape : tensor<2xf32> = #fovea.stored<"a", "w", tensor<?xf32>>

// -----

// expected-error @below {{expects a tensor of fewer than 2^63 bytes, got 'tensor<4294967296x4294967296xf32>'}}
fovea.weight @stored_c1_bytes : tensor<2xf32> = #fovea.stored<"a", "w", tensor<4294967296x4294967296xf32>>

// -----

// An axis of size zero does not hide the others: a row of it is still a size.
// expected-error @below {{expects a tensor of fewer than 2^63 bytes, got 'tensor<0x4294967296x4294967296xf32>'}}
fovea.weight @stored_c1_bytes_of_a_row : tensor<2xf32> = #fovea.stored<"a", "w", tensor<0x4294967296x4294967296xf32>>

// -----

// expected-error @below {{expects a stored tensor of integers or floating-point numbers, got 'tensor<2xindex>'}}
fovea.weight @stored_c2 : tensor<2xindex> = #fovea.stored<"a", "w", tensor<2xindex>>

// -----

// expected-error @below {{expects an axis of 'tensor<2x3xf32>', got 2}}
fovea.weight @concat_c1_axis : tensor<2x3xf32> = #fovea.concat<2, #fovea.stored<"a", "w", tensor<2x3xf32>>>

// -----

// expected-error @below {{expects an axis of 'tensor<2x3xf32>', got -1}}
fovea.weight @concat_c1_negative_axis : tensor<2x3xf32> = #fovea.concat<-1, #fovea.stored<"a", "w", tensor<2x3xf32>>>

// -----

// expected-error @below {{expects parts that differ in axis 0 only, got 'tensor<2x3xf32>' and 'tensor<2x4xf32>'}}
fovea.weight @concat_c2_shape : tensor<4x3xf32> = #fovea.concat<0, #fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.stored<"a", "v", tensor<2x4xf32>>>

// -----

// expected-error @below {{expects parts that differ in axis 0 only, got 'tensor<2xf32>' and 'tensor<2xf16>'}}
fovea.weight @concat_c2_element_type : tensor<4xf32> = #fovea.concat<0, #fovea.stored<"a", "w", tensor<2xf32>>, #fovea.stored<"a", "v", tensor<2xf16>>>

// -----

// expected-error @below {{expects parts that differ in axis 0 only, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
fovea.weight @concat_c2_rank : tensor<4x3xf32> = #fovea.concat<0, #fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.stored<"a", "v", tensor<2xf32>>>

// -----

// expected-error @below {{expects parts of fewer than 2^63 rows in all along axis 0}}
fovea.weight @concat_c3_rows : tensor<4xi8> = #fovea.concat<0, #fovea.stored<"a", "w", tensor<9223372036854775807xi8>>, #fovea.stored<"a", "v", tensor<9223372036854775807xi8>>>

// -----

// expected-error @below {{expects a tensor of fewer than 2^63 bytes, got 'tensor<4000000000000000000xf32>'}}
fovea.weight @concat_c3_bytes : tensor<4xf32> = #fovea.concat<0, #fovea.stored<"a", "w", tensor<2000000000000000000xf32>>, #fovea.stored<"a", "v", tensor<2000000000000000000xf32>>>

// -----

// expected-error @below {{expects a matrix to transpose, got 'tensor<2x3x4xf32>'}}
fovea.weight @transpose_c1 : tensor<3x2xf32> = #fovea.transpose<#fovea.stored<"a", "w", tensor<2x3x4xf32>>>

// -----

// expected-error @below {{expects each axis of 'tensor<2x3x4xf32>' once, got [0, 1]}}
fovea.weight @permute_c1_few : tensor<2x3xf32> = #fovea.permute<#fovea.stored<"a", "w", tensor<2x3x4xf32>>, [0, 1]>

// -----

// expected-error @below {{expects each axis of 'tensor<2x3xf32>' once, got [1, 1]}}
fovea.weight @permute_c1_twice : tensor<3x3xf32> = #fovea.permute<#fovea.stored<"a", "w", tensor<2x3xf32>>, [1, 1]>

// -----

// expected-error @below {{expects a shape of 6 elements for 'tensor<2x3xf32>', got [3, 3]}}
fovea.weight @reshape_c1 : tensor<3x3xf32> = #fovea.reshape<#fovea.stored<"a", "w", tensor<2x3xf32>>, [3, 3]>

// -----

// expected-error @below {{expects a shape of 6 elements for 'tensor<2x3xf32>', got [-2, -3]}}
fovea.weight @reshape_c1_negative : tensor<3x3xf32> = #fovea.reshape<#fovea.stored<"a", "w", tensor<2x3xf32>>, [-2, -3]>

// -----

// expected-error @below {{expects an axis of 'tensor<2x3xf32>', got 2}}
fovea.weight @slice_c1 : tensor<2x3xf32> = #fovea.slice<#fovea.stored<"a", "w", tensor<2x3xf32>>, 2 from 0 count 1>

// -----

// expected-error @below {{expects a range within the 3 places of axis 1, got 2 from 2}}
fovea.weight @slice_c2_end : tensor<2x2xf32> = #fovea.slice<#fovea.stored<"a", "w", tensor<2x3xf32>>, 1 from 2 count 2>

// -----

// expected-error @below {{expects a range within the 3 places of axis 1, got 0 from 1}}
fovea.weight @slice_c2_none : tensor<2x2xf32> = #fovea.slice<#fovea.stored<"a", "w", tensor<2x3xf32>>, 1 from 1 count 0>

// -----

// expected-error @below {{expects a cast among f16, bf16, f32 and f64, got 'i8' to 'f32'}}
fovea.weight @cast_c1_from : tensor<2xf32> = #fovea.cast<#fovea.stored<"a", "w", tensor<2xi8>>, f32>

// -----

// expected-error @below {{expects a cast among f16, bf16, f32 and f64, got 'f32' to 'i8'}}
fovea.weight @cast_c1_to : tensor<2xi8> = #fovea.cast<#fovea.stored<"a", "w", tensor<2xf32>>, i8>

// -----

// expected-error @below {{expects a tensor of fewer than 2^63 bytes, got 'tensor<2000000000000000000xf64>'}}
fovea.weight @cast_c2 : tensor<2xf64> = #fovea.cast<#fovea.stored<"a", "w", tensor<2000000000000000000xf32>>, f64>

// -----

// expected-error @below {{expects a matrix and a vector for its columns, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
fovea.weight @scale_columns_c1 : tensor<2x3xf32> = #fovea.scale_columns<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.stored<"a", "n", tensor<2xf32>>, 0.0 : f64>

// -----

// expected-error @below {{expects elements of f16, bf16, f32 or f64, got 'tensor<2x3xi8>' and 'tensor<3xf32>'}}
fovea.weight @scale_columns_c2 : tensor<2x3xi8> = #fovea.scale_columns<#fovea.stored<"a", "w", tensor<2x3xi8>>, #fovea.stored<"a", "n", tensor<3xf32>>, 0.0 : f64>

// -----

// expected-error @below {{expects a stored tensor without an encoding, got 'tensor<2x3xf32, #fovea.panels<16>>'}}
fovea.weight @stored_c3 : tensor<2x3xf32> = #fovea.stored<"a", "w", tensor<2x3xf32, #fovea.panels<16>>>

// -----

// expected-error @below {{expects a recipe for 'tensor<2x3xf32>', got one for 'tensor<2x3xf32, #fovea.panels<16>>'}}
fovea.weight @weight_c1_encoding : tensor<2x3xf32> = #fovea.pack<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.panels<16>>

// -----

// expected-error @below {{expects panels of a matrix of numbers of static shape, got 'tensor<2xf32>'}}
fovea.weight @pack_c1 : tensor<2xf32> = #fovea.pack<#fovea.stored<"a", "w", tensor<2xf32>>, #fovea.panels<16>>

// -----

// expected-error @below {{expects panels of fewer than 2^63 bytes, got 'tensor<1x1000000000000000000xf32>'}}
fovea.weight @pack_c2 : tensor<1x1000000000000000000xf32> = #fovea.pack<#fovea.stored<"a", "w", tensor<1x1000000000000000000xf32>>, #fovea.panels<16>>

// -----

// expected-error @below {{expects panels as a recipe's last step, got #fovea.pack}}
fovea.weight @pack_c3_cast : tensor<2x3xf16> = #fovea.cast<#fovea.pack<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.panels<16>>, f16>

// -----

// expected-error @below {{expects panels as a recipe's last step, got #fovea.pack}}
fovea.weight @pack_c3_pack : tensor<2x3xf32> = #fovea.pack<#fovea.pack<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.panels<16>>>

// -----

// expected-error @below {{expects panels of a width that is a multiple of 8 up to 1024, got 12}}
func.func private @panels_c1(tensor<2x3xf32, #fovea.panels<12>>)

// -----

// expected-error @below {{expects panels that interleave 1, 2, 4, 8 or 16 inputs, got 3}}
func.func private @panels_c2(tensor<2x3xf32, #fovea.panels<16, interleave = 3>>)

// -----

// expected-error @below {{expects panels of a matrix of numbers of static shape, got 'tensor<?x3xf32>'}}
func.func private @panels_c3_shape(tensor<?x3xf32, #fovea.panels<16>>)

// -----

// expected-error @below {{expects panels of a matrix of numbers of static shape, got 'tensor<2x3xindex>'}}
func.func private @panels_c3_element(tensor<2x3xindex, #fovea.panels<16>>)

// -----

// expected-error @below {{expects panels of fewer than 2^63 bytes, got 'tensor<0x4000000000000000000xf32>'}}
func.func private @panels_c4(tensor<0x4000000000000000000xf32, #fovea.panels<16>>)

// -----

func.func @weight_ref_c1_missing() {
  // expected-error @below {{expects a weight named @head, found none}}
  %w = fovea.weight_ref @head : tensor<2x3xf32>
  return
}

// -----

fovea.weight @head : tensor<2x3xf32> = #fovea.stored<"a", "w", tensor<2x3xf32>>
func.func @weight_ref_c1_type() {
  // expected-error @below {{expects the weight's type 'tensor<2x3xf32>', got 'tensor<3x2xf32>'}}
  %w = fovea.weight_ref @head : tensor<3x2xf32>
  return
}

// -----

func.func private @head()
func.func @weight_ref_c1_function() {
  // expected-error @below {{expects a weight named @head, found none}}
  %w = fovea.weight_ref @head : tensor<2x3xf32>
  return
}

// -----

fovea.weight @head : tensor<2x3xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.panels<16>>
func.func @weight_ref_c1_encoding() {
  // expected-error @below {{expects the weight's type 'tensor<2x3xf32, #fovea.panels<16>>', got 'tensor<2x3xf32>'}}
  %w = fovea.weight_ref @head : tensor<2x3xf32>
  return
}

// -----

fovea.weight @head : tensor<2x3xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.panels<16>>
func.func @weight_ref_c2() {
  // expected-error @below {{expects the weight's buffer 'memref<1x3x16xf32>', got 'memref<2x3xf32>'}}
  %w = fovea.weight_ref @head : memref<2x3xf32>
  return
}

// -----

// expected-error @below {{expects whole bytes in each row of a stored tensor, got 'tensor<2x3xi4>'}}
fovea.weight @stored_c2_bytes : tensor<2x3xi4> = #fovea.stored<"a", "w", tensor<2x3xi4>>

// -----

// expected-error @below {{expects a matrix of f16, bf16, f32 or f64 to quantise, got 'tensor<8xf32>'}}
fovea.weight @quantize_c1_rank : tensor<8xi8> = #fovea.quantize<#fovea.stored<"a", "w", tensor<8xf32>>, i8, f32>

// -----

// expected-error @below {{expects a matrix of f16, bf16, f32 or f64 to quantise, got 'tensor<6x8xi32>'}}
fovea.weight @quantize_c1_type : tensor<6x8xi8> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xi32>>, i8, f32>

// -----

// expected-error @below {{expects to quantise to i8 or i4, got 'i16'}}
fovea.weight @quantize_c2_type : tensor<6x8xi16> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xf32>>, i16, f32>

// -----

// expected-error @below {{expects an even number of inputs in rows and groups of i4, got 3 of 3}}
fovea.weight @quantize_c2_even : tensor<6x3xi4> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x3xf32>>, i4, f32>

// -----

// expected-error @below {{expects scales of f32, or of groups f16, got 'f16'}}
fovea.weight @quantize_c3 : tensor<6x8xi8> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xf32>>, i8, f16>

// -----

// expected-error @below {{expects groups that divide 8 inputs evenly, got 3}}
fovea.weight @quantize_c4 : tensor<6x8xi8> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xf32>>, i8, f16, group = 3>

// -----

// expected-error @below {{expects groups that divide 8 inputs evenly, got -2}}
fovea.weight @quantize_c4_negative : tensor<6x8xi8> = #fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xf32>>, i8, f16, group = -2>

// -----

// expected-error @below {{expects nothing but pack around elements that share bytes, got #fovea.quantize}}
fovea.weight @quantize_c5 : tensor<6x8xi4> = #fovea.reshape<#fovea.quantize<#fovea.stored<"a", "w", tensor<6x8xf32>>, i4, f16, group = 4>, [6, 8]>

// -----

// expected-error @below {{expects groups that divide 8 inputs evenly, got 5}}
fovea.weight @quantization_scales_c1 : tensor<6x2xf16> = #fovea.quantization_scales<#fovea.stored<"a", "w", tensor<6x8xf32>>, i8, f16, group = 5>
