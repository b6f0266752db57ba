// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Other formats are known by their first bytes, and what is ours is not taken for one of them.
#include "frontend/ForeignFile.h"

#include <gtest/gtest.h>

using namespace fovea;

namespace {

void expectKind(std::string_view bytes, const char *part, const char *name = "") {
  std::string told = describeForeign(bytes, name);
  EXPECT_NE(told.find(part), std::string::npos) << part << ": " << told;
}

TEST(ForeignFile, KnownByItsFirstBytes) {
  expectKind("GGUF", "a GGUF file");
  expectKind(std::string_view("\x80\x02}q\0.", 6), "a pickle");
  expectKind("PK\x03\x04rest", "a zip archive");
  expectKind("\x89HDF\r\n\x1a\n", "an HDF5 file");
  expectKind(std::string_view("\x1c\0\0\0TFL3", 8), "TensorFlow Lite");
  expectKind("\x93NUMPY\x01", "NumPy");
  expectKind(std::string(257, '\0') + "ustar", "a tar archive");
  expectKind("\x89"
             "FOVEA\r\n",
             "an artifact");
  expectKind(std::string_view("\x20\0\0\0\0\0\0\0{", 9), "a safetensors file");
}

TEST(ForeignFile, KnownByItsNameWhereBytesSayNothing) {
  expectKind("x", "PyTorch", "folder/pytorch_model.bin");
  expectKind("x", "PyTorch", "model.pth");
  expectKind("x", "TensorFlow graph", "saved_model.pb");
}

TEST(ForeignFile, NothingElse) {
  for (std::string_view bytes :
       {"", "G", "GGU", "PK\x05\x06", "{\"a\": 1}", "module {}", "\x80\x01x"})
    EXPECT_EQ(describeForeign(bytes, "model.txt"), "") << bytes;
  EXPECT_EQ(describeForeignFile("/nowhere/model.pt"), "");
  EXPECT_EQ(describeForeignFile("/dev/zero"), "");
}

} // namespace
