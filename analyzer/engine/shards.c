#include "analyzer/engine/shards.h"

#include <string.h>

#include "analyzer/base/name_table.h"
#include "analyzer/project/resolve.h"

struct joining {
	struct arena *arena;
	const struct cache_index *parts;
	uint32_t count;
	struct cache_index *joined;
	struct name_table linted, imported; /* by path: place + 1 */
	struct name_table normal;           /* all by normal path: place + 1 */
	uint32_t **places;                  /* by part, then place in it: place in joined */
};

uint32_t shard_of(const char *path, uint32_t shards)
{
	return (uint32_t)(hash_bytes(path, strlen(path)) % shards) + 1;
}

static bool is_owner(const struct joining *joining, uint32_t part, const char *path)
{
	return shard_of(path, joining->count) == part + 1;
}

/* the files */

static void place_file(struct joining *joining, uint32_t part, uint32_t i)
{
	const struct cached_file *file = &joining->parts[part].files.at[i];
	struct cached_file placed = {
	        .path = file->path,
	        .normal = file->normal,
	        .root = file->root,
	        .stamp = file->stamp,
	        .digest = file->digest,
	        .linted = file->linted,
	        .matters = file->matters,
	};
	bool is_new;
	struct name_entry *entry = name_table_put(
	        file->linted ? &joining->linted : &joining->imported, file->path, &is_new);

	if (is_new) {
		vec_push(joining->arena, &joining->joined->files, placed);
		entry->value = joining->joined->files.count;
		name_table_put(&joining->normal, file->normal, &is_new)->value = entry->value;
	}
	joining->places[part][i] = entry->value - 1;
}

static void place_all(struct joining *joining)
{
	joining->places = arena_array(joining->arena, uint32_t *, joining->count);
	for (int linted = 1; linted >= 0; linted--) {
		for (uint32_t p = 0; p < joining->count; p++) {
			const struct cache_index *part = &joining->parts[p];

			if (linted)
				joining->places[p] = arena_array(joining->arena, uint32_t,
				                                 part->files.count + 1);
			for (uint32_t i = 0; i < part->files.count; i++) {
				if (part->files.at[i].linted == (linted == 1))
					place_file(joining, p, i);
			}
		}
	}
}

/* what each part knows of one */

static void add_places(struct joining *joining, uint32_t part, const place_list *from,
                       place_list *to)
{
	for (uint32_t i = 0; i < from->count; i++) {
		const uint32_t place = joining->places[part][from->at[i]];
		bool found = false;

		for (uint32_t k = 0; k < to->count && !found; k++)
			found = to->at[k] == place;
		if (!found)
			vec_push(joining->arena, to, place);
	}
}

static void add_lookup(struct joining *joining, struct cached_file *file,
                       struct cached_lookup lookup)
{
	for (uint32_t i = 0; i < file->lookups.count; i++) {
		struct cached_lookup *known = &file->lookups.at[i];

		if (known->scans != lookup.scans || strcmp(known->dotted, lookup.dotted) != 0)
			continue;
		known->loads |= lookup.loads;
		file->is_open |= known->to != lookup.to;
		return;
	}
	vec_push(joining->arena, &file->lookups, lookup);
}

static void add_lookups(struct joining *joining, uint32_t part, const struct cached_file *from,
                        struct cached_file *to)
{
	for (uint32_t i = 0; i < from->lookups.count; i++) {
		struct cached_lookup lookup = from->lookups.at[i];

		if (lookup.to)
			lookup.to = joining->places[part][lookup.to - 1] + 1;
		add_lookup(joining, to, lookup);
	}
}

static struct cached_telling telling_of(struct joining *joining, uint32_t part,
                                        const struct cached_file *from)
{
	struct cached_telling telling = {
	        .judged = from->judged,
	        .suppressed = from->suppressed,
	        .results = from->results,
	};

	add_places(joining, part, &from->replayed, &telling.replayed);
	return telling;
}

static void believe(struct cached_file *to, const struct cached_telling *telling)
{
	to->judged = telling->judged;
	to->suppressed = telling->suppressed;
	to->results = telling->results;
	to->replayed = telling->replayed;
}

/* Who looked at a file's code as all of them did can tell of it: its own shard
 * first, else whoever comes first. */
static void add_telling(struct joining *joining, uint32_t part, uint32_t i, bool *is_told)
{
	const struct cached_file *from = &joining->parts[part].files.at[i];
	const uint32_t place = joining->places[part][i];
	struct cached_file *to = &joining->joined->files.at[place];
	struct cached_telling telling, before;

	if (from->analysed != to->analysed)
		return;
	telling = telling_of(joining, part, from);
	if (!is_told[place] || is_owner(joining, part, from->path)) {
		before = (struct cached_telling){to->judged, to->suppressed, to->results,
		                                 to->replayed};
		if (is_told[place])
			vec_push(joining->arena, &to->others, before);
		believe(to, &telling);
		is_told[place] = true;
	} else {
		vec_push(joining->arena, &to->others, telling);
	}
}

static void join_file(struct joining *joining, uint32_t part, uint32_t i)
{
	const struct cached_file *from = &joining->parts[part].files.at[i];
	struct cached_file *to = &joining->joined->files.at[joining->places[part][i]];
	const bool owns = from->linted && is_owner(joining, part, from->path);

	to->is_open |= !digest_same(from->digest, to->digest) || from->matters != to->matters;
	to->analysed |= from->analysed;
	if (owns || !from->linted) {
		to->is_broken |= from->is_broken;
		to->is_gone |= from->is_gone;
	}
	if (owns) {
		to->found = from->found;
		add_places(joining, part, &from->used, &to->used);
	}
	add_places(joining, part, &from->asked, &to->asked);
	add_lookups(joining, part, from, to);
}

/* A file whose own shard does not know it is one that nobody looked at. */
static void join_files(struct joining *joining)
{
	const uint32_t count = joining->joined->files.count;
	bool *is_owned = arena_array(joining->arena, bool, count + 1);
	bool *is_told = arena_array(joining->arena, bool, count + 1);

	for (uint32_t p = 0; p < joining->count; p++) {
		for (uint32_t i = 0; i < joining->parts[p].files.count; i++) {
			const uint32_t place = joining->places[p][i];
			const struct cached_file *file = &joining->joined->files.at[place];

			join_file(joining, p, i);
			is_owned[place] |= is_owner(joining, p, file->path);
		}
	}
	for (uint32_t p = 0; p < joining->count; p++) {
		for (uint32_t i = 0; i < joining->parts[p].files.count; i++)
			add_telling(joining, p, i, is_told);
	}
	for (uint32_t i = 0; i < count; i++)
		joining->joined->files.at[i].is_open |=
		        joining->joined->files.at[i].linted && !is_owned[i];
}

/* folders */

static void join_folders(struct joining *joining)
{
	struct name_table seen = {.arena = joining->arena};
	bool is_new;

	for (uint32_t p = 0; p < joining->count; p++) {
		for (uint32_t i = 0; i < joining->parts[p].folders.count; i++) {
			const struct cached_folder *folder = &joining->parts[p].folders.at[i];
			struct name_entry *entry = name_table_put(&seen, folder->path, &is_new);
			struct cached_folder *known;

			if (is_new) {
				vec_push(joining->arena, &joining->joined->folders, *folder);
				entry->value = joining->joined->folders.count;
				continue;
			}
			known = &joining->joined->folders.at[entry->value - 1];
			if (known->names != folder->names)
				*known = (struct cached_folder){.path = known->path};
		}
	}
}

/* what a part could not see */

/* A look-up among what one part had loaded: would it have ended elsewhere, or met
 * code where there was none, with all of them loaded? */
static bool differs(struct joining *joining, struct arena *scratch, uint32_t part,
                    const struct cached_file *file, const struct cached_lookup *lookup)
{
	const struct cache_index *index = &joining->parts[part];
	const struct cached_file *hit = lookup->to ? &index->files.at[lookup->to - 1] : NULL;
	struct resolve_paths paths;

	if (lookup->scans)
		return false;
	if (hit &&
	    hit->analysed !=
	            joining->joined->files.at[joining->places[part][lookup->to - 1]].analysed)
		return true;
	resolve_python(scratch, file->normal, file->root, lookup->dotted, &paths);
	for (unsigned i = 0; i < paths.count; i++) {
		if (hit && !strcmp(paths.at[i], hit->normal))
			return false;
		if (name_table_find(&joining->normal, paths.at[i]))
			return true;
	}
	return false;
}

static void open_where_parts_differ(struct joining *joining)
{
	struct arena scratch = {0};

	for (uint32_t p = 0; p < joining->count; p++) {
		for (uint32_t i = 0; i < joining->parts[p].files.count; i++) {
			const struct cached_file *file = &joining->parts[p].files.at[i];
			bool *is_open = &joining->joined->files.at[joining->places[p][i]].is_open;

			for (uint32_t k = 0; file->root && k < file->lookups.count && !*is_open;
			     k++)
				*is_open =
				        differs(joining, &scratch, p, file, &file->lookups.at[k]);
			arena_reset(&scratch);
		}
	}
	arena_release(&scratch);
}

void shards_join(struct arena *arena, const struct cache_index *parts, uint32_t count,
                 struct cache_index *joined)
{
	struct joining joining = {
	        .arena = arena,
	        .parts = parts,
	        .count = count,
	        .joined = joined,
	        .linted = {.arena = arena},
	        .imported = {.arena = arena},
	        .normal = {.arena = arena},
	};

	*joined = (struct cache_index){0};
	place_all(&joining);
	join_files(&joining);
	join_folders(&joining);
	open_where_parts_differ(&joining);
}
