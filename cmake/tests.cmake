# One executable with every suite of tests/suites.def, and one ctest entry for
# each. Fuzz targets are built with libFuzzer, or else replay their corpus.

pkg_check_modules(check REQUIRED IMPORTED_TARGET check)

set(list "${CMAKE_SOURCE_DIR}/tests/suites.def")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/test_*.c")
file(GLOB helpers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/*_runner.c"
     "${CMAKE_SOURCE_DIR}/tests/temp_tree.c")

add_executable(graphlint_tests ${sources} ${helpers})
target_link_libraries(graphlint_tests PRIVATE graphlint_app graphlint_engine graphlint_rules graphlint_runtime
                      PkgConfig::check m)
target_compile_definitions(graphlint_tests PRIVATE
  GRAPHLINT_ROOT="${CMAKE_SOURCE_DIR}" GRAPHLINT_PROGRAM="${CMAKE_BINARY_DIR}/graphlint")
# check's assertion macros take a GNU variadic form.
target_compile_options(graphlint_tests PRIVATE
  -include "${CMAKE_SOURCE_DIR}/tests/suites.h"
  $<$<C_COMPILER_ID:Clang,AppleClang>:-Wno-gnu-zero-variadic-macro-arguments>)

file(STRINGS "${list}" lines REGEX "^SUITE\\(")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^SUITE\\(([a-z0-9_]+)\\).*" "\\1" suite "${line}")
  add_test(NAME ${suite} COMMAND graphlint_tests ${suite})
  # One process a suite: the leak check at each fork's end takes minutes. The base
  # suite has tests that must end their process.
  if(GRAPHLINT_SANITIZE AND NOT suite STREQUAL base)
    set_tests_properties(${suite} PROPERTIES ENVIRONMENT CK_FORK=no)
  endif()
endforeach()
add_test(NAME layers COMMAND sh "${CMAKE_SOURCE_DIR}/tests/check_layers.sh" "${CMAKE_SOURCE_DIR}")
add_test(NAME library COMMAND sh "${CMAKE_SOURCE_DIR}/tests/check_library.sh" "${CMAKE_SOURCE_DIR}")
find_program(PYTHON3 python3)
if(PYTHON3)
  add_test(NAME metamorphic COMMAND "${PYTHON3}" "${CMAKE_SOURCE_DIR}/tests/metamorphic.py" $<TARGET_FILE:graphlint>)
endif()
add_test(NAME banned_functions
         COMMAND sh "${CMAKE_SOURCE_DIR}/tests/check_banned.sh" "${CMAKE_SOURCE_DIR}")

file(GLOB fuzz_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/fuzz_*.c")
foreach(source IN LISTS fuzz_sources)
  get_filename_component(target ${source} NAME_WE)
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE graphlint_engine graphlint_rules graphlint_runtime m)
  if(target STREQUAL fuzz_calls)
    target_sources(${target} PRIVATE tests/hostile.c)
  endif()
  if(GRAPHLINT_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE tests/replay_corpus.c)
    add_test(NAME ${target} COMMAND ${target} "${CMAKE_SOURCE_DIR}/fixtures/broken"
                                    "${CMAKE_SOURCE_DIR}/fixtures/corpus/${target}")
  endif()
endforeach()

# The replay alone, for developers.
add_executable(replay_main tests/replay_main.c)
target_link_libraries(replay_main PRIVATE graphlint_replay graphlint_front)

# Programs that stand on the runtime alone.
foreach(example train memory_facts)
  add_executable(${example} runtime/examples/${example}.c)
  target_link_libraries(${example} PRIVATE graphlint_runtime m)
  add_test(NAME example_${example} COMMAND ${example})
endforeach()
