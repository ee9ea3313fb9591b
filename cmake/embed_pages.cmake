# cmake -DFOLDER=docs/rules -DOUT=pages.c -P embed_pages.cmake: the Markdown files
# of a folder as one C source that defines `pages` (analyzer/app/pages.h).

file(GLOB pages "${FOLDER}/*.md")
list(SORT pages)
set(texts "#include \"analyzer/app/pages.h\"\n\n")
set(rows "")
foreach(page IN LISTS pages)
  get_filename_component(slug "${page}" NAME_WE)
  string(REPLACE "-" "_" name "${slug}")
  file(READ "${page}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND texts "static const unsigned char page_${name}[] = {${bytes}0};\n")
  string(APPEND rows "\t{\"${slug}\", (const char *)page_${name}},\n")
endforeach()
string(APPEND texts "\nconst struct page pages[] = {\n${rows}\t{NULL, NULL},\n};\n")
file(WRITE "${OUT}" "${texts}")
