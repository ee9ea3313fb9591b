# A static library for each layer, from the sources in its folder. A layer is
# linked to those above it; the runtime to replay alone. tests/check_layers.sh
# has the same order and checks the includes.

set(graphlint_layers base source ir torch front project flow facts finding rules replay fix
    report engine)

# graphlint_layer(NAME SOURCES...): a layer without sources yet is an empty target.
function(graphlint_layer name)
  if(ARGN)
    add_library(graphlint_${name} STATIC ${ARGN})
    set(scope PUBLIC)
  else()
    add_library(graphlint_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(graphlint_${name} ${scope} graphlint_options ${above})
endfunction()

function(graphlint_rule_sources result)
  set(sources)
  set(list "${CMAKE_SOURCE_DIR}/rules/rules.def")
  if(EXISTS "${list}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
    file(STRINGS "${list}" lines REGEX "^RULE\\(")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^RULE\\([A-Z0-9]+, *([a-z0-9_]+),.*" "rules/\\1.c" source "${line}")
      list(APPEND sources "${CMAKE_SOURCE_DIR}/${source}")
    endforeach()
    list(APPEND sources "${CMAKE_SOURCE_DIR}/rules/registry.c")
  endif()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

set(above)
foreach(layer IN LISTS graphlint_layers)
  if(layer STREQUAL rules)
    graphlint_rule_sources(sources)
  else()
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/analyzer/${layer}/*.c")
  endif()
  if(layer STREQUAL replay)
    # The interpreter's library in Python is lowered here, and put into the executable.
    add_executable(lower_library "${CMAKE_SOURCE_DIR}/tools/lower_library.c")
    target_link_libraries(lower_library PRIVATE graphlint_front)
    file(GLOB library CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/analyzer/replay/lib/*.py")
    set(library_source "${CMAKE_BINARY_DIR}/replay_library.c")
    add_custom_command(OUTPUT "${library_source}"
      COMMAND lower_library "${library_source}" ${library}
      DEPENDS ${library} lower_library VERBATIM)
    list(APPEND sources "${library_source}")
  endif()
  graphlint_layer(${layer} ${sources})
  list(PREPEND above graphlint_${layer})
endforeach()

file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/runtime/*.c")
set(above)
graphlint_layer(runtime ${sources})
# The random streams are PyTorch's bit for bit: no multiply-add may be fused but those written.
if(sources)
  target_compile_options(graphlint_runtime PRIVATE -ffp-contract=off
                         $<$<CONFIG:Release>:-O3>)
endif()

# graphlint_links(LAYER LIBRARIES...)
function(graphlint_links layer)
  get_target_property(type graphlint_${layer} TYPE)
  if(type STREQUAL INTERFACE_LIBRARY)
    target_link_libraries(graphlint_${layer} INTERFACE ${ARGN})
  else()
    target_link_libraries(graphlint_${layer} PUBLIC ${ARGN})
  endif()
endfunction()

graphlint_links(base Threads::Threads)
graphlint_links(source jansson)
graphlint_links(front tree_sitter tree_sitter_python ${CMAKE_DL_LIBS})
graphlint_links(replay graphlint_runtime m)
graphlint_links(report jansson m)
graphlint_links(engine tree_sitter tree_sitter_toml)

# The rule pages of docs/ are put into the executable.
file(GLOB pages CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/docs/rules/*.md")
set(embedded "${CMAKE_BINARY_DIR}/rule_pages.c")
add_custom_command(OUTPUT "${embedded}"
  COMMAND ${CMAKE_COMMAND} "-DFOLDER=${CMAKE_SOURCE_DIR}/docs/rules" "-DOUT=${embedded}"
          -P "${CMAKE_SOURCE_DIR}/cmake/embed_pages.cmake"
  DEPENDS ${pages} "${CMAKE_SOURCE_DIR}/cmake/embed_pages.cmake" VERBATIM)

# The app is a library, so that tests reach it, and a main.
file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/analyzer/app/*.c")
list(REMOVE_ITEM sources "${CMAKE_SOURCE_DIR}/analyzer/app/main.c")
add_library(graphlint_app STATIC ${sources} "${embedded}")
target_link_libraries(graphlint_app PUBLIC graphlint_engine)
target_compile_definitions(graphlint_app PRIVATE GRAPHLINT_VERSION="${PROJECT_VERSION}")
add_executable(graphlint analyzer/app/main.c)
target_link_libraries(graphlint PRIVATE graphlint_app graphlint_rules)
install(TARGETS graphlint RUNTIME)
