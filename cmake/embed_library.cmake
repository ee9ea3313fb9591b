# cmake -DFOLDER=analyzer/replay/lib -DOUT=library.c -P embed_library.cmake: the
# interpreter's library in Python as one C source that defines `library_texts`
# (analyzer/replay/py.h). A file's name is its module's: torch.nn.py.

file(GLOB files "${FOLDER}/*.py")
list(SORT files)
set(texts "#include \"analyzer/replay/py.h\"\n\n")
set(rows "")
set(number 0)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  string(REGEX REPLACE "\\.py$" "" name "${name}")
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND texts "static const unsigned char text_${number}[] = {${bytes}0};\n")
  string(APPEND rows
         "\t{\"${name}\", (const char *)text_${number}, sizeof(text_${number}) - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
string(APPEND texts "\nconst struct library_text library_texts[] = {\n${rows}\t{NULL, NULL, 0},\n};\n")
file(WRITE "${OUT}" "${texts}")
