#include "analyzer/torch/api.h"

#include <string.h>

#include "analyzer/torch/api_tables.h"

enum {
	NAME_ROOM = 256,      /* longer names have no row */
	MAX_BASES = 16,	      /* longest chain of base classes that is followed */
	MAX_ALIAS_ROUNDS = 4, /* an alias may lead to the prefix of another */
};

struct slice {
	const char *at;
	size_t length;
};

static struct slice name_at(uint32_t offset)
{
	const char *text = api_name_block + offset;

	return (struct slice){text, strlen(text)};
}

/* Like strcmp of `name` with the NUL-terminated `row`. */
static int compare(struct slice name, const char *row)
{
	size_t i = 0;

	while (i < name.length && row[i] != '\0' && name.at[i] == row[i])
		i++;
	if (i == name.length)
		return row[i] == '\0' ? 0 : -1;
	return (unsigned char)name.at[i] < (unsigned char)row[i] ? -1 : 1;
}

static const void *search(const struct api_table *table, struct slice name)
{
	const char *base = table->rows;
	uint32_t low = 0, high = table->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const char *row = base + (size_t)middle * table->size;
		uint32_t offset;
		int order;

		memcpy(&offset, row, sizeof(offset));
		order = compare(name, api_name_block + offset);
		if (order == 0)
			return row;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static const void *search_all(const struct api_table *tables, size_t count, struct slice name)
{
	const void *row = NULL;

	for (size_t i = 0; i < count && row == NULL; i++)
		row = search(&tables[i], name);
	return row;
}

static const struct api_entry *find_exact(struct slice name)
{
	return search_all(api_tables, API_TABLE_COUNT, name);
}

static const struct api_class *class_exact(struct slice name)
{
	return search_all(api_class_tables, 2, name);
}

/* C++ spelling to dots; template arguments go. 0 when it does not fit. */
static size_t undecorate(struct slice name, char *out, size_t room)
{
	size_t used = 0;
	unsigned depth = 0;

	for (size_t i = 0; i < name.length; i++) {
		char c = name.at[i];

		if (c == '>' && depth > 0) {
			depth--;
		} else if (c == '<') {
			depth++;
		} else if (depth == 0) {
			if (used + 1 >= room)
				return 0;
			if (c == ':' && i + 1 < name.length && name.at[i + 1] == ':') {
				c = '.';
				i++;
			}
			if (c == '.' && used == 0)
				continue;
			out[used++] = c;
		}
	}
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
		row = search_all(api_alias_tables, 2, (struct slice){name.at, end});
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

size_t api_canonical(const char *name, size_t length, char *out, size_t room)
{
	size_t used = undecorate((struct slice){name, length}, out, room);

	for (int round = 0; round < MAX_ALIAS_ROUNDS && used > 0; round++) {
		size_t prefix = 0;
		struct slice now = {out, used};
		const struct api_pair *alias;

		if (find_exact(now) != NULL || class_exact(now) != NULL)
			break;
		alias = alias_of(now, &prefix);
		if (alias == NULL)
			break;
		used = replace_prefix(out, used, prefix, name_at(alias->to), room);
	}
	return used;
}

const struct api_entry *api_find(const char *name, size_t length)
{
	char room[NAME_ROOM];
	const struct api_entry *row = find_exact((struct slice){name, length});
	size_t used;

	if (row != NULL)
		return row;
	used = api_canonical(name, length, room, sizeof(room));
	return used == 0 ? NULL : find_exact((struct slice){room, used});
}

const struct api_class *api_class_find(const char *name, size_t length)
{
	char room[NAME_ROOM];
	const struct api_class *row = class_exact((struct slice){name, length});
	size_t used;

	if (row != NULL)
		return row;
	used = api_canonical(name, length, room, sizeof(room));
	return used == 0 ? NULL : class_exact((struct slice){room, used});
}

const struct api_class *api_class_base(const struct api_class *class)
{
	struct slice base = name_at(class->base);

	return base.length == 0 ? NULL : class_exact(base);
}

static size_t join(char *room, struct slice owner, struct slice member)
{
	if (owner.length + 1 + member.length >= NAME_ROOM)
		return 0;
	memcpy(room, owner.at, owner.length);
	room[owner.length] = '.';
	memcpy(room + owner.length + 1, member.at, member.length);
	return owner.length + 1 + member.length;
}

const struct api_entry *api_method(const char *class_name, size_t class_length, const char *method,
				   size_t method_length)
{
	char room[NAME_ROOM];
	struct slice owner = {class_name, class_length};
	struct slice member = {method, method_length};
	const struct api_class *class = api_class_find(class_name, class_length);

	if (class != NULL)
		owner = name_at(class->name);
	for (int depth = 0; depth < MAX_BASES; depth++) {
		size_t used = join(room, owner, member);
		const struct api_entry *row = NULL;

		if (used > 0)
			row = find_exact((struct slice){room, used});
		class = class == NULL ? NULL : api_class_base(class);
		if (row != NULL || class == NULL)
			return row;
		owner = name_at(class->name);
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

		if (compare(class, api_name_block + row->class_name) == 0 &&
		    compare(method, api_name_block + row->method) == 0)
			return row;
	}
	return NULL;
}

const struct api_hook_mode *api_framework_method(const char *class_name, size_t class_length,
						 const char *method, size_t method_length)
{
	const struct api_class *class = api_class_find(class_name, class_length);
	const struct api_hook_mode *row = NULL;

	for (int depth = 0; depth < MAX_BASES && class != NULL && row == NULL; depth++) {
		row = hook_of(name_at(class->name), (struct slice){method, method_length});
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
	struct slice name = name_at(entry->name);
	const struct api_pair *row = search_all(api_result_tables, 2, name);

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
