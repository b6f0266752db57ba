# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes OUTPUT, a header with the commit that is built as FOVEA_COMMIT: "" where there is no git.
execute_process(COMMAND git -C ${SOURCE} describe --always --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(WRITE ${OUTPUT}.new "#define FOVEA_COMMIT \"${commit}\"\n")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
