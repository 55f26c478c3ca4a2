# SPDX-License-Identifier: Apache-2.0
# Run by dladvisor_embed: writes OUTPUT, a C++ source that holds FILES (paths below ROOT), each with a 0 behind
# it. The assembler reads them, which takes no time; as arrays the compiler would for seconds.
# The symbols are local to that file: with LTO, what names them may be compiled apart from it.
set(blocks "")
set(symbols "")
set(entries "")
set(index 0)
list(SORT FILES)
foreach(file ${FILES})
  file(RELATIVE_PATH path ${ROOT} ${file})
  file(SIZE ${file} size)
  set(symbol dladvisor_${NAME}_${index})
  string(APPEND blocks ".balign 16\n${symbol}:\n.incbin \"${file}\"\n.byte 0\n")
  string(APPEND symbols "extern const char ${symbol}[];\n")
  string(APPEND entries "  {\"${path}\", {${symbol}, ${size}}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"engine/base/embedded.h\"\n\n"
  "asm(R\"(.pushsection .rodata\n${blocks}.popsection\n)\");\nextern \"C\" {\n${symbols}}\n\n"
  "namespace dladvisor {\nnamespace {\nconst std::array<EmbeddedFile, ${index}> kFiles = {{\n${entries}}};\n}  // namespace\n\n"
  "std::span<const EmbeddedFile> ${NAME}() { return kFiles; }\n}  // namespace dladvisor\n")
