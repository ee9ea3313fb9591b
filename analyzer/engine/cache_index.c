#include "analyzer/engine/cache_index.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "analyzer/base/files.h"

static const char magic[] = "graphlint cache 2\n";

enum { RACE_NANOSECONDS = 50 * 1000 * 1000 };

/* stamps */

static uint64_t nanoseconds(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

bool file_stamp_take(const char *path, struct file_stamp *stamp)
{
	struct timespec now;
	struct stat status;

	clock_gettime(CLOCK_REALTIME, &now);
	if (stat(path, &status) != 0)
		return false;
	*stamp = (struct file_stamp){
	        .size = (uint64_t)status.st_size,
	        .modified = nanoseconds(status.st_mtim),
	        .changed = nanoseconds(status.st_ctim),
	        .inode = (uint64_t)status.st_ino,
	        .device = (uint64_t)status.st_dev,
	        .seen = nanoseconds(now),
	};
	return true;
}

/* A second change within one tick of the file system's clock leaves the same
 * times: a file that had just changed when it was seen is not trusted. */
bool file_stamp_same(const struct file_stamp *before, const struct file_stamp *now)
{
	return before->size == now->size && before->modified == now->modified &&
	       before->changed == now->changed && before->inode == now->inode &&
	       before->device == now->device && before->changed + RACE_NANOSECONDS < before->seen;
}

static bool is_importable(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "__pycache__"))
		return false;
	if (length > 3 && !strcmp(entry->d_name + length - 3, ".py"))
		return true;
	return entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN;
}

uint64_t folder_names_hash(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	uint64_t names = 1;

	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		if (is_importable(entry))
			names += hash_bytes(entry->d_name, strlen(entry->d_name));
	}
	closedir(folder);
	return names;
}

/* writing */

static void pack_stamp(struct text *out, const struct file_stamp *stamp)
{
	pack_number(out, stamp->size);
	pack_number(out, stamp->modified);
	pack_number(out, stamp->changed);
	pack_number(out, stamp->inode);
	pack_number(out, stamp->device);
	pack_number(out, stamp->seen);
}

static void pack_head(struct text *out, const struct cached_file *file)
{
	pack_text(out, file->path);
	pack_stamp(out, &file->stamp);
	pack_digest(out, file->digest);
	pack_number(out, (unsigned)file->linted | (unsigned)file->analysed << 1 |
	                         (unsigned)file->is_gone << 2 | (unsigned)file->is_broken << 3 |
	                         (unsigned)file->matters << 4);
	pack_number(out, file->suppressed);
	pack_bytes(out, file->results.length ? file->results.at : "", file->results.length);
}

static void pack_places(struct text *out, const place_list *places)
{
	pack_number(out, places->count);
	for (uint32_t i = 0; i < places->count; i++)
		pack_number(out, places->at[i]);
}

static void pack_rest(struct text *out, const struct cached_file *file)
{
	pack_text(out, file->normal);
	pack_text(out, file->root);
	pack_digest(out, file->judged);
	pack_bytes(out, file->found.length ? file->found.at : "", file->found.length);
	pack_places(out, &file->used);
	pack_places(out, &file->asked);
	pack_places(out, &file->replayed);
	pack_number(out, file->lookups.count);
	for (uint32_t i = 0; i < file->lookups.count; i++) {
		const struct cached_lookup *lookup = &file->lookups.at[i];

		pack_text(out, lookup->dotted);
		pack_number(out, (uint64_t)lookup->to << 2 | (unsigned)lookup->scans |
		                         (unsigned)lookup->loads << 1);
	}
}

static void pack_folder(struct text *out, const struct cached_folder *folder)
{
	pack_text(out, folder->path);
	pack_stamp(out, &folder->stamp);
	pack_number(out, folder->names);
}

/* Fixed in size, so that the head can be read alone. */
struct preamble {
	char magic[sizeof(magic)];
	uint64_t head_length, rest_length;
	struct digest head_sum;
};

void cache_index_pack(const struct cache_index *index, struct text *whole)
{
	struct arena arena = {0};
	struct text head = {.arena = &arena}, rest = {.arena = &arena};
	struct preamble preamble;

	for (uint32_t i = 0; i < index->files.count; i++)
		pack_rest(&rest, &index->files.at[i]);
	pack_number(&head, index->files.count);
	for (uint32_t i = 0; i < index->files.count; i++)
		pack_head(&head, &index->files.at[i]);
	pack_number(&head, index->folders.count);
	for (uint32_t i = 0; i < index->folders.count; i++)
		pack_folder(&head, &index->folders.at[i]);
	pack_digest(&head, digest_bytes(text_chars(&rest), rest.length));
	memset(&preamble, 0, sizeof(preamble));
	memcpy(preamble.magic, magic, sizeof(magic));
	preamble.head_length = head.length;
	preamble.rest_length = rest.length;
	preamble.head_sum = digest_bytes(head.at, head.length);
	text_add(whole, (const char *)&preamble, sizeof(preamble));
	text_add(whole, head.at, head.length);
	text_add(whole, text_chars(&rest), rest.length);
	arena_release(&arena);
}

bool cache_index_write(const char *path, const struct cache_index *index)
{
	struct arena arena = {0};
	struct text whole = {.arena = &arena};
	bool ok;

	cache_index_pack(index, &whole);
	ok = file_write(path, whole.at, whole.length);
	arena_release(&arena);
	return ok;
}

/* reading */

static struct file_stamp unpack_stamp(struct unpacking *in)
{
	struct file_stamp stamp;

	stamp.size = unpack_number(in);
	stamp.modified = unpack_number(in);
	stamp.changed = unpack_number(in);
	stamp.inode = unpack_number(in);
	stamp.device = unpack_number(in);
	stamp.seen = unpack_number(in);
	return stamp;
}

static struct cached_file unpack_head(struct unpacking *in)
{
	struct cached_file file = {.path = unpack_text(in)};
	uint64_t flags;

	file.stamp = unpack_stamp(in);
	file.digest = unpack_digest(in);
	flags = unpack_number(in);
	file.linted = flags & 1;
	file.analysed = flags & 2;
	file.is_gone = flags & 4;
	file.is_broken = flags & 8;
	file.matters = flags & 16;
	file.suppressed = (uint32_t)unpack_number(in);
	file.results.at = unpack_bytes(in, &file.results.length);
	in->broken |= !file.path;
	return file;
}

static void unpack_places(struct unpacking *in, place_list *places, uint32_t files)
{
	uint32_t count = unpack_count(in);

	for (uint32_t i = 0; i < count && !in->broken; i++) {
		const uint64_t place = unpack_number(in);

		in->broken |= place >= files;
		vec_push(in->arena, places, (uint32_t)place);
	}
}

static void unpack_rest(struct unpacking *in, struct cached_file *file, uint32_t files)
{
	uint32_t count;

	file->normal = unpack_text(in);
	file->root = unpack_text(in);
	file->judged = unpack_digest(in);
	file->found.at = unpack_bytes(in, &file->found.length);
	unpack_places(in, &file->used, files);
	unpack_places(in, &file->asked, files);
	unpack_places(in, &file->replayed, files);
	count = unpack_count(in);
	for (uint32_t i = 0; i < count && !in->broken; i++) {
		struct cached_lookup lookup = {.dotted = unpack_text(in)};
		uint64_t number = unpack_number(in);

		lookup.to = (uint32_t)(number >> 2);
		lookup.scans = number & 1;
		lookup.loads = number & 2;
		in->broken |= !lookup.dotted || lookup.to > files;
		vec_push(in->arena, &file->lookups, lookup);
	}
	in->broken |= !file->normal;
}

static void unpack_all_heads(struct unpacking *in, struct cache_index *index)
{
	uint32_t count = unpack_count(in);

	for (uint32_t i = 0; i < count && !in->broken; i++)
		vec_push(in->arena, &index->files, unpack_head(in));
	count = unpack_count(in);
	for (uint32_t i = 0; i < count && !in->broken; i++) {
		struct cached_folder folder = {.path = unpack_text(in)};

		folder.stamp = unpack_stamp(in);
		folder.names = unpack_number(in);
		in->broken |= !folder.path;
		vec_push(in->arena, &index->folders, folder);
	}
	index->rest_sum = unpack_digest(in);
}

/* NULL: it is shorter. */
static const char *read_piece(struct arena *arena, FILE *file, uint64_t at, size_t length)
{
	char *bytes;
	struct stat status;

	if (fstat(fileno(file), &status) != 0 || status.st_size < 0 ||
	    (uint64_t)status.st_size < at || (uint64_t)status.st_size - at < length ||
	    fseeko(file, (off_t)at, SEEK_SET) != 0)
		return NULL;
	bytes = arena_alloc(arena, length + 1, 1);
	return fread(bytes, 1, length, file) == length ? bytes : NULL;
}

static bool has_length(FILE *file, const struct preamble *preamble)
{
	struct stat status;

	return fstat(fileno(file), &status) == 0 &&
	       (uint64_t)status.st_size ==
	               sizeof(*preamble) + preamble->head_length + preamble->rest_length;
}

static const char *read_head(struct arena *arena, FILE *file, size_t *length)
{
	const char *start = read_piece(arena, file, 0, sizeof(struct preamble));
	struct preamble preamble;
	const char *head;

	if (!start)
		return NULL;
	memcpy(&preamble, start, sizeof(preamble));
	if (memcmp(preamble.magic, magic, sizeof(magic)) != 0 || !has_length(file, &preamble))
		return NULL;
	*length = (size_t)preamble.head_length;
	head = read_piece(arena, file, sizeof(preamble), *length);
	return head && digest_same(preamble.head_sum, digest_bytes(head, *length)) ? head : NULL;
}

bool cache_index_read(struct arena *arena, const char *path, struct cache_index *index)
{
	FILE *file = fopen(path, "rbe");
	struct unpacking in = {.arena = arena};
	size_t length = 0;

	*index = (struct cache_index){0};
	if (!file)
		return false;
	in.at = read_head(arena, file, &length);
	fclose(file);
	if (!in.at)
		return false;
	in.end = in.at + length;
	unpack_all_heads(&in, index);
	index->rest = sizeof(struct preamble) + length;
	if (in.broken)
		*index = (struct cache_index){0};
	return !in.broken;
}

static bool unpack_all_rests(struct unpacking *in, struct cache_index *index)
{
	for (uint32_t i = 0; i < index->files.count && !in->broken; i++)
		unpack_rest(in, &index->files.at[i], index->files.count);
	return !in->broken;
}

bool cache_index_read_rest(struct arena *arena, const char *path, struct cache_index *index)
{
	FILE *file = fopen(path, "rbe");
	struct unpacking in = {.arena = arena};
	struct stat status;
	size_t length = 0;

	if (!file)
		return false;
	if (fstat(fileno(file), &status) == 0 && (uint64_t)status.st_size >= index->rest) {
		length = (size_t)status.st_size - (size_t)index->rest;
		in.at = read_piece(arena, file, index->rest, length);
	}
	fclose(file);
	if (!in.at || !digest_same(index->rest_sum, digest_bytes(in.at, length)))
		return false;
	in.end = in.at + length;
	return unpack_all_rests(&in, index);
}

bool cache_index_unpack(struct arena *arena, const char *bytes, size_t length,
                        struct cache_index *index)
{
	struct unpacking in = {.arena = arena};
	struct preamble preamble;

	*index = (struct cache_index){0};
	if (length < sizeof(preamble))
		return false;
	memcpy(&preamble, bytes, sizeof(preamble));
	length -= sizeof(preamble);
	bytes += sizeof(preamble);
	if (memcmp(preamble.magic, magic, sizeof(magic)) != 0 || preamble.head_length > length ||
	    preamble.rest_length != length - preamble.head_length ||
	    !digest_same(preamble.head_sum, digest_bytes(bytes, (size_t)preamble.head_length)))
		return false;
	in.at = bytes;
	in.end = bytes + preamble.head_length;
	unpack_all_heads(&in, index);
	bytes += preamble.head_length;
	length -= (size_t)preamble.head_length;
	if (in.broken || !digest_same(index->rest_sum, digest_bytes(bytes, length)))
		return false;
	in.at = bytes;
	in.end = bytes + length;
	return unpack_all_rests(&in, index);
}
