#include "analyzer/base/intern.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/bug.h"
#include "analyzer/base/hash.h"

/* Looking a known name up takes no lock. The names are spread over stripes by
 * hash; a stripe's slots only ever go from empty to filled, and a table that
 * was outgrown lives on in the stripe's arena for the readers that still hold
 * it: they miss at worst, and then look again under the stripe's lock. */

enum {
	STRIPE_BITS = 4,
	STRIPE_COUNT = 1 << STRIPE_BITS,
	FIRST_SLOTS = 128,
	FIRST_SEGMENT = 1024, /* segment n holds FIRST_SEGMENT << n names */
	SEGMENT_COUNT = 22,
};

struct name {
	const char *chars;
	size_t length;
	uint64_t hash;
};

struct slots {
	uint32_t mask;
	_Atomic uint64_t at[]; /* upper half of the hash, then the id; 0 is empty */
};

struct stripe {
	_Alignas(64) struct slots *_Atomic slots;
	pthread_mutex_t lock;
	uint32_t filled;
	struct arena arena;
};

struct intern {
	struct stripe stripes[STRIPE_COUNT];
	struct name *_Atomic segments[SEGMENT_COUNT];
	_Atomic uint32_t next;
};

static struct slots *slots_new(struct arena *arena, uint32_t count)
{
	struct slots *slots = arena_alloc(arena, 1, sizeof(*slots) + count * sizeof(slots->at[0]));

	slots->mask = count - 1;
	return slots;
}

static unsigned segment_of(uint32_t id, uint32_t *index)
{
	uint32_t scaled = id / FIRST_SEGMENT + 1;
	unsigned segment = 31 - (unsigned)__builtin_clz(scaled);

	*index = id - FIRST_SEGMENT * ((1u << segment) - 1);
	return segment;
}

static struct name *name_of(const struct intern *table, uint32_t id)
{
	uint32_t index;
	unsigned segment = segment_of(id, &index);
	struct name *names = atomic_load_explicit(&table->segments[segment], memory_order_acquire);

	return names + index;
}

/* The place of a new id; makes its segment if this is the first one in it. */
static struct name *name_place(struct intern *table, uint32_t id)
{
	uint32_t index;
	unsigned segment = segment_of(id, &index);
	struct name *none = NULL;
	struct name *made;

	if (segment >= SEGMENT_COUNT)
		BUG("more than %u names", id);
	if (!atomic_load_explicit(&table->segments[segment], memory_order_acquire)) {
		made = checked_alloc((size_t)FIRST_SEGMENT << segment, sizeof(*made));
		if (!atomic_compare_exchange_strong(&table->segments[segment], &none, made))
			free(made);
	}
	return name_of(table, id);
}

static uint32_t slots_find(const struct intern *table, const struct slots *slots, uint64_t hash,
                           const char *bytes, size_t length)
{
	uint32_t at = (uint32_t)hash & slots->mask;
	uint64_t slot;

	while ((slot = atomic_load_explicit(&slots->at[at], memory_order_acquire))) {
		if (slot >> 32 == hash >> 32) {
			const struct name *name = name_of(table, (uint32_t)slot);

			if (name->length == length && !memcmp(name->chars, bytes, length))
				return (uint32_t)slot;
		}
		at = (at + 1) & slots->mask;
	}
	return 0;
}

static void slots_put(struct slots *slots, uint64_t hash, uint32_t id)
{
	uint32_t at = (uint32_t)hash & slots->mask;

	while (atomic_load_explicit(&slots->at[at], memory_order_relaxed))
		at = (at + 1) & slots->mask;
	atomic_store_explicit(&slots->at[at], hash >> 32 << 32 | id, memory_order_release);
}

static void stripe_grow(const struct intern *table, struct stripe *stripe)
{
	struct slots *old = atomic_load_explicit(&stripe->slots, memory_order_relaxed);
	struct slots *grown = slots_new(&stripe->arena, (old->mask + 1) * 2);

	for (uint32_t i = 0; i <= old->mask; i++) {
		uint32_t id = (uint32_t)atomic_load_explicit(&old->at[i], memory_order_relaxed);

		if (id)
			slots_put(grown, name_of(table, id)->hash, id);
	}
	atomic_store_explicit(&stripe->slots, grown, memory_order_release);
}

/* Called with the stripe's lock held. */
static uint32_t stripe_add(struct intern *table, struct stripe *stripe, uint64_t hash,
                           const char *bytes, size_t length)
{
	uint32_t id = atomic_fetch_add(&table->next, 1);
	struct name *name = name_place(table, id);
	struct slots *slots = atomic_load_explicit(&stripe->slots, memory_order_relaxed);

	name->chars = arena_text(&stripe->arena, bytes, length);
	name->length = length;
	name->hash = hash;
	if (stripe->filled++ > slots->mask / 2) {
		stripe_grow(table, stripe);
		slots = atomic_load_explicit(&stripe->slots, memory_order_relaxed);
	}
	slots_put(slots, hash, id);
	return id;
}

sym_id intern_text(struct intern *table, const char *bytes, size_t length)
{
	uint64_t hash = hash_bytes(bytes, length);
	struct stripe *stripe = &table->stripes[hash >> 16 & (STRIPE_COUNT - 1)];
	struct slots *slots = atomic_load_explicit(&stripe->slots, memory_order_acquire);
	sym_id id = {slots_find(table, slots, hash, bytes, length)};

	if (id.n)
		return id;
	pthread_mutex_lock(&stripe->lock);
	slots = atomic_load_explicit(&stripe->slots, memory_order_relaxed);
	id.n = slots_find(table, slots, hash, bytes, length);
	if (!id.n)
		id.n = stripe_add(table, stripe, hash, bytes, length);
	pthread_mutex_unlock(&stripe->lock);
	return id;
}

const char *intern_chars(const struct intern *table, sym_id id, size_t *length)
{
	const struct name *name;

	if (!id.n) {
		if (length)
			*length = 0;
		return "";
	}
	BUG_IF(id.n >= atomic_load_explicit(&table->next, memory_order_relaxed));
	name = name_of(table, id.n);
	if (length)
		*length = name->length;
	return name->chars;
}

static void intern_well_known(struct intern *table)
{
	static const struct {
		const char *chars;
		size_t length;
	} names[SYM_WELL_KNOWN_COUNT] = {
#define NAME(id, text) [SYM_##id] = {text, sizeof(text) - 1},
#include "analyzer/base/names.def"
#undef NAME
	};

	for (uint32_t i = 1; i < SYM_WELL_KNOWN_COUNT; i++)
		if (intern_text(table, names[i].chars, names[i].length).n != i)
			BUG("names.def has \"%s\" twice", names[i].chars);
}

struct intern *intern_open(void)
{
	struct intern *table = NULL;

	if (posix_memalign((void **)&table, _Alignof(struct intern), sizeof(*table)))
		BUG("no memory for the names");
	memset(table, 0, sizeof(*table));
	for (int i = 0; i < STRIPE_COUNT; i++) {
		struct stripe *stripe = &table->stripes[i];

		pthread_mutex_init(&stripe->lock, NULL);
		atomic_init(&stripe->slots, slots_new(&stripe->arena, FIRST_SLOTS));
	}
	atomic_init(&table->next, 1);
	intern_well_known(table);
	return table;
}

void intern_close(struct intern *table)
{
	if (!table)
		return;
	for (int i = 0; i < STRIPE_COUNT; i++) {
		pthread_mutex_destroy(&table->stripes[i].lock);
		arena_release(&table->stripes[i].arena);
	}
	for (int i = 0; i < SEGMENT_COUNT; i++)
		free(atomic_load_explicit(&table->segments[i], memory_order_relaxed));
	free(table);
}
