#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/replay/py.h"

/* Of this thread: what a busy machine does must not change what is found. */
static double clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct vm *vm_open(struct intern *names, const struct vm_limits *limits)
{
	struct vm *vm = calloc(1, sizeof(*vm));

	BUG_IF(!vm);
	vm->arena = checked_alloc(1, sizeof(*vm->arena));
	memset(vm->arena, 0, sizeof(*vm->arena));
	vm->names = names;
	vm->limits = *limits;
	vm->out.arena = &vm->out_arena;
	vm->out_cap = 16u << 20;
	vm->first.next = vm->first.prev = &vm->first;
	vm->started = clock_seconds();
	vm->next_clock = 4096;
	vm->version = 1;
	vm->fake_time = 1.7e9;
	types_init(vm);
	exc_init_types(vm);
	builtins_init(vm);
	return vm;
}

void vm_offer(struct vm *vm, const struct native_module *module)
{
	vm->offered = checked_realloc(vm->offered, vm->offered_count + 1, sizeof(*vm->offered));
	vm->offered[vm->offered_count++] = module;
}

/* The payloads of torch's kinds are given back, the rest is only memory. */
void vm_close(struct vm *vm)
{
	struct obj *o;

	heal_forget(vm);
	slot_set(vm, &vm->last_item, val_null());
	slot_set(vm, &vm->out_to, val_null());
	vm->at_close = true;
	for (o = vm->first.next; o != &vm->first; o = o->next)
		if (vm->kinds[o->kind].release)
			vm->kinds[o->kind].release(vm, o);
	slab_release(&vm->memory);
	free(vm->table);
	free((void *)vm->of_sym.at);
	free((void *)vm->of_library.at);
	free(vm->weak);
	free((void *)vm->offered);
	free(vm->random);
	regexes_close(vm);
	arena_release(&vm->out_arena);
	arena_release(vm->arena);
	free(vm->arena);
	free(vm);
}

bool vm_halt(struct vm *vm, enum vm_halt why, const char *reason)
{
	if (!vm->halt) {
		vm->halt = why;
		vm->halt_reason = reason;
	}
	return false;
}

bool vm_work(struct vm *vm, uint64_t steps)
{
	vm->steps += steps;
	if (vm->steps > vm->limits.steps)
		return vm_halt(vm, VM_HALT_STEPS, "budget of steps used up");
	if (vm->steps >= vm->next_clock) {
		vm->next_clock = vm->steps + 16384;
		if (clock_seconds() - vm->started > vm->limits.seconds)
			return vm_halt(vm, VM_HALT_SECONDS, "out of time");
	}
	return !vm->halt;
}

void vm_stand_in(struct vm *vm, const char *format, ...)
{
	char what[256];
	va_list arguments;

	if (vm->lazy && vm->asked)
		vm_halt(vm, VM_HALT_VALUES, "numbers are needed");
	if (!vm->on_stand_in)
		return;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	vm->on_stand_in(vm, what);
}

void vm_asked(struct vm *vm)
{
	vm->asked = true;
	if (!vm->lazy)
		vm_stand_in(vm, "value of a tensor");
}
