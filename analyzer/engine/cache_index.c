#include "analyzer/engine/cache_index.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "analyzer/base/files.h"

static const char magic[] = "graphlint cache 1\n";

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

static void pack_file(struct text *out, const struct cached_file *file)
{
	pack_text(out, file->path);
	pack_text(out, file->normal);
	pack_stamp(out, &file->stamp);
	text_add(out, (const char *)&file->digest, sizeof(file->digest));
	pack_number(out, file->component);
	pack_number(out, (unsigned)file->linted | (unsigned)file->analysed << 1 |
	                         (unsigned)file->has_problem << 2);
	pack_number(out, file->suppressed);
	pack_bytes(out, file->results ? file->results : "", file->results_length);
}

bool cache_index_write(const char *path, const struct cache_index *index)
{
	struct arena arena = {0};
	struct text body = {.arena = &arena}, whole = {.arena = &arena};
	struct digest sum;
	bool ok;

	pack_number(&body, index->files.count);
	for (uint32_t i = 0; i < index->files.count; i++)
		pack_file(&body, &index->files.at[i]);
	pack_number(&body, index->folders.count);
	for (uint32_t i = 0; i < index->folders.count; i++) {
		pack_text(&body, index->folders.at[i].path);
		pack_stamp(&body, &index->folders.at[i].stamp);
		pack_number(&body, index->folders.at[i].names);
	}
	sum = digest_bytes(body.at, body.length);
	text_add(&whole, magic, sizeof(magic) - 1);
	text_add(&whole, (const char *)&sum, sizeof(sum));
	text_add(&whole, body.at, body.length);
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

static struct digest unpack_digest(struct unpacking *in)
{
	struct digest digest = {0};

	if ((size_t)(in->end - in->at) < sizeof(digest)) {
		in->broken = true;
		return digest;
	}
	memcpy(&digest, in->at, sizeof(digest));
	in->at += sizeof(digest);
	return digest;
}

static struct cached_file unpack_file(struct unpacking *in)
{
	struct cached_file file = {.path = unpack_text(in)};
	uint64_t flags;

	file.normal = unpack_text(in);
	file.stamp = unpack_stamp(in);
	file.digest = unpack_digest(in);
	file.component = (uint32_t)unpack_number(in);
	flags = unpack_number(in);
	file.linted = flags & 1;
	file.analysed = flags & 2;
	file.has_problem = flags & 4;
	file.suppressed = (uint32_t)unpack_number(in);
	file.results = unpack_bytes(in, &file.results_length);
	in->broken |= !file.path || !file.normal;
	return file;
}

static void unpack_index(struct unpacking *in, struct cache_index *index)
{
	uint32_t count = unpack_count(in);

	for (uint32_t i = 0; i < count && !in->broken; i++) {
		struct cached_file file = unpack_file(in);

		vec_push(in->arena, &index->files, file);
		in->broken |= file.component >= count;
	}
	count = unpack_count(in);
	for (uint32_t i = 0; i < count && !in->broken; i++) {
		struct cached_folder folder = {.path = unpack_text(in)};

		folder.stamp = unpack_stamp(in);
		folder.names = unpack_number(in);
		in->broken |= !folder.path;
		vec_push(in->arena, &index->folders, folder);
	}
}

bool cache_index_read(struct arena *arena, const char *path, struct cache_index *index)
{
	size_t head = sizeof(magic) - 1 + sizeof(struct digest);
	struct unpacking in = {.arena = arena};
	struct file_text file;
	struct digest sum;

	*index = (struct cache_index){0};
	if (!file_read(arena, path, &file) || file.length < head ||
	    memcmp(file.bytes, magic, sizeof(magic) - 1) != 0)
		return false;
	memcpy(&sum, file.bytes + sizeof(magic) - 1, sizeof(sum));
	if (!digest_same(sum, digest_bytes(file.bytes + head, file.length - head)))
		return false;
	in.at = file.bytes + head;
	in.end = file.bytes + file.length;
	unpack_index(&in, index);
	if (in.broken)
		*index = (struct cache_index){0};
	return !in.broken;
}
