#include "analyzer/torch/api_search.h"

#include <string.h>

struct slice search_name(uint32_t offset)
{
	const char *text = api_name_block + offset;

	return (struct slice){text, strlen(text)};
}

int search_compare(struct slice name, uint32_t offset)
{
	const char *row = api_name_block + offset;
	int order = strncmp(name.at, row, name.length);

	/* equal so far and no NUL in the slice: the row is at least as long */
	return order == 0 && row[name.length] != '\0' ? -1 : order;
}

static uint32_t offset_at(const struct api_table *table, uint32_t index)
{
	uint32_t offset;

	memcpy(&offset, (const char *)table->rows + (size_t)index * table->size, sizeof(offset));
	return offset;
}

/* The first row that is not before `name`; `found` says whether it is equal. */
static uint32_t lower_bound(const struct api_table *table, struct slice name, bool *found)
{
	uint32_t low = 0, high = table->count;

	*found = false;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = search_compare(name, offset_at(table, middle));

		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

const void *search_tables(const struct api_table *tables, size_t count, struct slice name)
{
	if (memchr(name.at, '\0', name.length) != NULL)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		bool found;
		uint32_t index = lower_bound(&tables[i], name, &found);

		if (found)
			return (const char *)tables[i].rows + (size_t)index * tables[i].size;
	}
	return NULL;
}

/* "numpy" sorts just before "numpy.": rows with the root follow it, but for names such as
 * "numpy-x", which no row has. */
bool search_root(const struct api_table *tables, size_t count, struct slice name)
{
	const char *end = memchr(name.at, '.', name.length);
	struct slice root = {name.at, end == NULL ? name.length : (size_t)(end - name.at)};

	for (size_t i = 0; i < count; i++) {
		bool found;
		uint32_t index = lower_bound(&tables[i], root, &found);
		const char *row;

		if (found)
			return true;
		if (index == tables[i].count)
			continue;
		row = api_name_block + offset_at(&tables[i], index);
		if (strncmp(row, root.at, root.length) == 0 && row[root.length] == '.')
			return true;
	}
	return false;
}

size_t search_last_dot(struct slice name)
{
	size_t end = name.length;

	while (end > 0 && name.at[end - 1] != '.')
		end--;
	return end;
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Start of the last word in camel case: "Config" of BertConfig, "LM" of BertForMaskedLM. */
static size_t last_word(struct slice name)
{
	size_t start = name.length;

	while (start > 0 && !is_upper(name.at[start - 1]) && name.at[start - 1] != '.')
		start--;
	while (start > 1 && is_upper(name.at[start - 1]) && is_upper(name.at[start - 2]))
		start--;
	return start > 0 && is_upper(name.at[start - 1]) ? start - 1 : start;
}

/* The row named by the first `prefix` bytes of `name`, a star, and what follows `rest`. */
static const void *find_starred(const struct api_table *tables, size_t count, struct slice name,
                                size_t prefix, size_t rest)
{
	char room[API_NAME_ROOM];
	size_t tail = name.length - rest;

	if (prefix + 1 + tail > sizeof(room))
		return NULL;
	memcpy(room, name.at, prefix);
	room[prefix] = '*';
	memcpy(room + prefix + 1, name.at + rest, tail);
	return search_tables(tables, count, (struct slice){room, prefix + 1 + tail});
}

const void *search_pattern(const struct api_table *tables, size_t count, struct slice name)
{
	size_t last = search_last_dot(name);
	struct slice owner = {name.at, last > 0 ? last - 1 : 0};
	const void *row = NULL;

	for (size_t end = last; end > 1 && row == NULL; end--) {
		if (name.at[end - 1] != '.')
			continue;
		row = find_starred(tables, count, name, end, last_word(name));
		if (row == NULL && end < last)
			row = find_starred(tables, count, name, end, last_word(owner));
		if (row == NULL && end < last)
			row = find_starred(tables, count, name, end, last - 1);
		if (row == NULL)
			row = find_starred(tables, count, name, end, name.length);
	}
	return row;
}
