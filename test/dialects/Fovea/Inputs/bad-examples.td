// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Examples that td_examples.py must find at fault: one that does not parse, one whose types do not agree with each other, one op without any.
def FirstOp : FoveaOp<"mask_causal"> {
    ```mlir
    %m = fovea.mask_casual
    ```
}
def SecondOp : FoveaOp<"mask_length"> {
    ```mlir
    %n = arith.constant 1 : i32
    %m = fovea.mask_length %n : tensor<?xi32>
    ```
}
def ThirdOp : FoveaOp<"mask_prefix"> {}
