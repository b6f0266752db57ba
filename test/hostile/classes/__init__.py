# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One module for each class of faults."""
