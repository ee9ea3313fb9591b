#include "analyzer/replay/torch.h"

/* What torch.autocast is made of; the rest is Python (lib/torch.py). The
 * runtime knows two devices, and no other has tensors. */

#define NATIVE(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

static enum ag_device device_of(struct val cuda)
{
	return cuda.tag == PY_BOOL && cuda.as.i ? AG_CUDA : AG_CPU;
}

static struct val region_val(struct vm *vm, struct ag_autocast region)
{
	struct list *t = tuple_new(vm, 3);

	t->at[0] = val_bool(region.enabled);
	t->at[1] = dtype_val(vm, region.dtype);
	t->at[2] = val_bool(region.cache);
	return val_obj(t);
}

static bool region_of(struct vm *vm, struct val *a, struct ag_autocast *region)
{
	region->enabled = rp_truth(vm, a[0]) > 0;
	region->cache = rp_truth(vm, a[2]) > 0;
	return torch_dtype_of(vm, a[1], &region->dtype);
}

NATIVE(autocast_state)
{
	(void)n;
	return region_val(vm, ag_autocast_of(ctx_of(vm), device_of(a[0])));
}

NATIVE(autocast_set)
{
	struct ag_autocast region;

	(void)n;
	if (!region_of(vm, a + 1, &region))
		return val_null();
	ag_autocast_set(ctx_of(vm), device_of(a[0]), region);
	return val_none();
}

NATIVE(autocast_enter)
{
	struct ag_autocast region;

	(void)n;
	if (!region_of(vm, a + 1, &region))
		return val_null();
	return region_val(vm, ag_autocast_enter(ctx_of(vm), device_of(a[0]), region));
}

NATIVE(autocast_exit)
{
	struct ag_autocast before;

	(void)n;
	if (!region_of(vm, a + 1, &before))
		return val_null();
	ag_autocast_exit(ctx_of(vm), device_of(a[0]), before);
	return val_none();
}

NATIVE(autocast_forget)
{
	(void)a, (void)n;
	ag_autocast_forget(ctx_of(vm));
	return val_none();
}

const struct native_def autocast_functions[] = {
        {"autocast_state", autocast_state, "cuda"},
        {"autocast_set", autocast_set, "cuda enabled dtype cache"},
        {"autocast_enter", autocast_enter, "cuda enabled dtype cache"},
        {"autocast_exit", autocast_exit, "cuda enabled dtype cache"},
        {"autocast_forget", autocast_forget, ""},
        {0},
};
