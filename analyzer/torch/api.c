#include "analyzer/torch/api.h"

#include <string.h>

#include "analyzer/torch/api_search.h"

enum {
	MAX_BASES = 16,       /* longest chain of base classes that is followed */
	MAX_ALIAS_ROUNDS = 4, /* an alias may lead to the prefix of another */
};

static const struct api_entry *find_exact(struct slice name)
{
	return search_tables(api_tables, API_TABLE_COUNT, name);
}

static const struct api_class *class_exact(struct slice name)
{
	return search_tables(api_class_tables, 2, name);
}

/* Copies `name` with C++ spelling made Python's: "::" is a dot, template arguments and the
 * "Impl" of a module's implementation go. 0 when it does not fit. */
static size_t undecorate(struct slice name, char *out, size_t room)
{
	size_t used = 0;
	unsigned depth = 0;

	for (size_t i = 0; i < name.length; i++) {
		char c = name.at[i];
		bool colons = c == ':' && i + 1 < name.length && name.at[i + 1] == ':';

		depth += c == '<';
		if (depth == 0) {
			if (colons && used > 4 && memcmp(out + used - 4, "Impl", 4) == 0)
				used -= 4;
			if (used + 1 >= room)
				return 0;
			if (!colons || used > 0)
				out[used++] = colons ? '.' : c;
			i += colons;
		}
		depth -= c == '>' && depth > 0;
	}
	if (used > 4 && memchr(name.at, ':', name.length) != NULL &&
	    memcmp(out + used - 4, "Impl", 4) == 0)
		used -= 4;
	out[used] = '\0';
	return used;
}

/* The alias for the longest prefix of `name` that ends at a dot or at its end. */
static const struct api_pair *alias_of(struct slice name, size_t *prefix)
{
	for (size_t end = name.length; end > 0; end--) {
		const struct api_pair *row;

		if (end < name.length && name.at[end] != '.')
			continue;
		row = search_tables(api_alias_tables, 2, (struct slice){name.at, end});
		if (row != NULL) {
			*prefix = end;
			return row;
		}
	}
	return NULL;
}

static size_t replace_prefix(char *text, size_t length, size_t prefix, struct slice by, size_t room)
{
	if (length - prefix + by.length + 1 > room)
		return 0;
	memmove(text + by.length, text + prefix, length - prefix + 1);
	memcpy(text, by.at, by.length);
	return length - prefix + by.length;
}

static bool is_known(struct slice name)
{
	return find_exact(name) != NULL || class_exact(name) != NULL;
}

/* at::mse_loss and torch::mse_loss are torch.nn.functional.mse_loss to Python. */
static size_t to_functional(char *text, size_t length, size_t room)
{
	static const char from[] = "torch.", to[] = "torch.nn.functional.";
	char trial[API_NAME_ROOM];
	size_t used;

	if (length < sizeof(from) || length >= sizeof(trial) ||
	    memcmp(text, from, sizeof(from) - 1) != 0)
		return length;
	memcpy(trial, text, length + 1);
	used = replace_prefix(trial, length, sizeof(from) - 1, (struct slice){to, sizeof(to) - 1},
	                      sizeof(trial));
	if (used == 0 || used >= room || !is_known((struct slice){trial, used}))
		return length;
	memcpy(text, trial, used + 1);
	return used;
}

/* A slice that the tables can be asked for, with C++ spelling gone; empty when there is no row
 * for anything that begins so. */
static struct slice canonical_of(const char *name, size_t length, char room[API_NAME_ROOM])
{
	struct slice canonical = {room, 0};

	if (memchr(name, '\0', length) != NULL || length >= API_NAME_ROOM)
		return canonical;
	canonical.length = undecorate((struct slice){name, length}, room, API_NAME_ROOM);
	if (!search_root(api_tables, API_TABLE_COUNT, canonical) &&
	    !search_root(api_alias_tables, 2, canonical) &&
	    !search_root(api_class_tables, 2, canonical))
		canonical.length = 0;
	else
		canonical.length = api_canonical(name, length, room, API_NAME_ROOM);
	return canonical;
}

size_t api_canonical(const char *name, size_t length, char *out, size_t room)
{
	size_t used = undecorate((struct slice){name, length}, out, room);

	for (int round = 0; round < MAX_ALIAS_ROUNDS && used > 0; round++) {
		size_t prefix = 0;
		struct slice now = {out, used};
		const struct api_pair *alias;

		if (is_known(now))
			return used;
		alias = alias_of(now, &prefix);
		if (alias == NULL)
			break;
		used = replace_prefix(out, used, prefix, search_name(alias->to), room);
	}
	if (used > 0 && memchr(name, ':', length) != NULL && !is_known((struct slice){out, used}))
		used = to_functional(out, used, room);
	return used;
}

static const struct api_class *class_or_pattern(struct slice name)
{
	const struct api_class *row = class_exact(name);

	return row != NULL ? row : search_pattern(api_class_tables, 2, name);
}

/* "torch.nn.Linear.parameters" has no row, its base class does. */
static const struct api_entry *find_inherited(struct slice name)
{
	size_t dot = search_last_dot(name);

	if (dot < 2 || class_or_pattern((struct slice){name.at, dot - 1}) == NULL)
		return NULL;
	return api_method(name.at, dot - 1, name.at + dot, name.length - dot);
}

const struct api_entry *api_find(const char *name, size_t length)
{
	char room[API_NAME_ROOM];
	struct slice canonical = canonical_of(name, length, room);
	const struct api_entry *row;

	if (canonical.length == 0)
		return NULL;
	row = find_exact(canonical);
	if (row == NULL)
		row = find_inherited(canonical);
	return row != NULL ? row : search_pattern(api_tables, API_TABLE_COUNT, canonical);
}

const struct api_class *api_class_find(const char *name, size_t length)
{
	char room[API_NAME_ROOM];
	struct slice canonical = canonical_of(name, length, room);

	return canonical.length == 0 ? NULL : class_or_pattern(canonical);
}

const struct api_class *api_class_base(const struct api_class *class)
{
	struct slice base = search_name(class->base);

	return base.length == 0 ? NULL : class_exact(base);
}

static size_t join(char *room, struct slice owner, struct slice member)
{
	if (owner.length + 1 + member.length >= API_NAME_ROOM)
		return 0;
	memcpy(room, owner.at, owner.length);
	room[owner.length] = '.';
	memcpy(room + owner.length + 1, member.at, member.length);
	return owner.length + 1 + member.length;
}

const struct api_entry *api_method(const char *class_name, size_t class_length, const char *method,
                                   size_t method_length)
{
	char room[API_NAME_ROOM];
	struct slice owner = {class_name, class_length};
	struct slice member = {method, method_length};
	const struct api_class *class = api_class_find(class_name, class_length);

	if (class != NULL)
		owner = search_name(class->name);
	for (int depth = 0; depth < MAX_BASES; depth++) {
		size_t used = join(room, owner, member);
		const struct api_entry *row = NULL;

		if (used > 0)
			row = find_exact((struct slice){room, used});
		class = class == NULL ? NULL : api_class_base(class);
		if (row != NULL || class == NULL)
			return row;
		owner = search_name(class->name);
	}
	return NULL;
}

bool api_is_a(const char *name, size_t length, const char *ancestor)
{
	const struct api_class *class = api_class_find(name, length);

	for (int depth = 0; depth < MAX_BASES && class != NULL; depth++) {
		if (strcmp(api_class_name(class), ancestor) == 0)
			return true;
		class = api_class_base(class);
	}
	return false;
}

static const struct api_hook_mode *hook_of(struct slice class, struct slice method)
{
	const struct api_hook_mode *rows = api_hook_table.rows;

	for (uint32_t i = 0; i < api_hook_table.count; i++) {
		const struct api_hook_mode *row = &rows[i];

		if (search_compare(class, row->class_name) == 0 &&
		    search_compare(method, row->method) == 0)
			return row;
	}
	return NULL;
}

const struct api_hook_mode *api_framework_method(const char *class_name, size_t class_length,
                                                 const char *method, size_t method_length)
{
	const struct api_class *class = api_class_find(class_name, class_length);
	const struct api_hook_mode *row = NULL;

	if (memchr(method, '\0', method_length) != NULL)
		return NULL;
	for (int depth = 0; depth < MAX_BASES && class != NULL && row == NULL; depth++) {
		row = hook_of(search_name(class->name), (struct slice){method, method_length});
		class = api_class_base(class);
	}
	return row;
}

const char *api_name(const struct api_entry *entry)
{
	return api_name_block + entry->name;
}

const char *api_class_name(const struct api_class *class)
{
	return api_name_block + class->name;
}

const char *api_result_class(const struct api_entry *entry)
{
	struct slice name = search_name(entry->name);
	const struct api_pair *row = search_tables(api_result_tables, 2, name);

	if (row != NULL)
		return api_name_block + row->to;
	return class_exact(name) == NULL ? NULL : name.at;
}

const struct api_entry *api_at(size_t index)
{
	for (size_t i = 0; i < API_TABLE_COUNT; i++) {
		if (index < api_tables[i].count)
			return (const struct api_entry *)api_tables[i].rows + index;
		index -= api_tables[i].count;
	}
	return NULL;
}
