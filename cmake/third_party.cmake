# tree-sitter and its grammars from node_modules or the system, and jansson.

function(graphlint_require_file path)
  if(NOT EXISTS "${path}")
    message(FATAL_ERROR "${path} is missing. Run ./dev build, or:\n"
                        "  npm ci --ignore-scripts --legacy-peer-deps\n"
                        "or point GRAPHLINT_NODE_MODULES or the GRAPHLINT_SYSTEM_* options elsewhere.")
  endif()
endfunction()

# graphlint_vendor(TARGET SYSTEM_OPTION PKG_CONFIG_NAME SOURCE_FOLDER SOURCES INCLUDES)
# makes TARGET, either from the system's package or from sources.
function(graphlint_vendor target system package folder)
  cmake_parse_arguments(PARSE_ARGV 4 vendor "" "" "SOURCES;PUBLIC;PRIVATE")
  if(${system})
    pkg_check_modules(${target}_system REQUIRED IMPORTED_TARGET ${package})
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE PkgConfig::${target}_system)
    return()
  endif()
  list(TRANSFORM vendor_SOURCES PREPEND "${folder}/")
  list(TRANSFORM vendor_PUBLIC PREPEND "${folder}/")
  list(TRANSFORM vendor_PRIVATE PREPEND "${folder}/")
  foreach(file IN LISTS vendor_SOURCES)
    graphlint_require_file("${file}")
  endforeach()
  add_library(${target} STATIC ${vendor_SOURCES})
  target_include_directories(${target} SYSTEM PUBLIC ${vendor_PUBLIC})
  target_include_directories(${target} PRIVATE ${vendor_PRIVATE})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE $<$<CONFIG:Release>:NDEBUG>)
  target_compile_options(${target} PRIVATE -w -O2)
  if(GRAPHLINT_SANITIZE MATCHES undefined)
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
endfunction()

graphlint_vendor(tree_sitter GRAPHLINT_SYSTEM_TREE_SITTER tree-sitter
  "${GRAPHLINT_NODE_MODULES}/tree-sitter/vendor/tree-sitter/lib"
  SOURCES src/lib.c PUBLIC include PRIVATE src)
graphlint_vendor(tree_sitter_python GRAPHLINT_SYSTEM_TREE_SITTER_PYTHON tree-sitter-python
  "${GRAPHLINT_NODE_MODULES}/tree-sitter-python"
  SOURCES src/parser.c src/scanner.c PRIVATE src)
graphlint_vendor(tree_sitter_toml GRAPHLINT_SYSTEM_TREE_SITTER_TOML tree-sitter-toml
  "${GRAPHLINT_NODE_MODULES}/@tree-sitter-grammars/tree-sitter-toml"
  SOURCES src/parser.c src/scanner.c PRIVATE src)

# jansson goes into the executable unless a packager wants the shared library.
add_library(jansson INTERFACE)
if(GRAPHLINT_SHARED_LIBRARIES)
  pkg_check_modules(jansson_system REQUIRED IMPORTED_TARGET jansson)
  target_link_libraries(jansson INTERFACE PkgConfig::jansson_system)
else()
  find_path(JANSSON_INCLUDE_DIR jansson.h REQUIRED)
  find_library(JANSSON_ARCHIVE libjansson.a REQUIRED)
  target_include_directories(jansson SYSTEM INTERFACE "${JANSSON_INCLUDE_DIR}")
  target_link_libraries(jansson INTERFACE "${JANSSON_ARCHIVE}")
endif()
