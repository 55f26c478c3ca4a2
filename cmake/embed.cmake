# SPDX-License-Identifier: Apache-2.0
# Run by dladvisor_embed: writes OUTPUT, a C++ source that holds FILES (paths below ROOT) as byte arrays.
set(arrays "")
set(entries "")
set(index 0)
list(SORT FILES)
foreach(file ${FILES})
  file(RELATIVE_PATH path ${ROOT} ${file})
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND arrays "const unsigned char kFile${index}[] = {${bytes}0};\n")
  string(APPEND entries "  {\"${path}\", {reinterpret_cast<const char*>(kFile${index}), sizeof(kFile${index}) - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"engine/base/embedded.h\"\n\nnamespace dladvisor {\nnamespace {\n${arrays}"
  "const std::array<EmbeddedFile, ${index}> kFiles = {{\n${entries}}};\n}  // namespace\n\n"
  "std::span<const EmbeddedFile> ${NAME}() { return kFiles; }\n}  // namespace dladvisor\n")
