#ifndef GRAPHLINT_REPLAY_MODULES_H
#define GRAPHLINT_REPLAY_MODULES_H

/* The native half of Python's library; the rest is Python, in lib/. None of it
 * reads or writes anything outside the machine: clocks are made up, files and
 * networks are stand-ins. */

#include "analyzer/replay/py.h"

extern const struct native_module math_module, random_module, regex_module, time_module, gc_module,
        sys_module;
extern const struct native_module weakref_module, itertools_module, collections_module;
extern const struct native_module support_module; /* mod_support.c */

/* All of them, and what Python's own library needs. */
void modules_offer(struct vm *vm);

#endif
