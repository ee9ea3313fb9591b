#include "analyzer/engine/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/finding/fingerprint.h"
#include "analyzer/finding/rule.h"
#include "analyzer/report/emit.h"
#include "analyzer/report/json_load.h"
#include "analyzer/report/place.h"

struct entry {
	const char *fingerprint;
	const char *what; /* "GL103 train.py: message" */
	bool found;
};

typedef VEC(struct entry) entry_list;

static const char *text_of(struct arena *arena, const json_t *object, const char *key)
{
	const char *chars = json_string_value(json_object_get(object, key));

	return chars ? arena_text(arena, chars, strlen(chars)) : NULL;
}

static bool read_entry(struct arena *arena, const json_t *object, entry_list *entries)
{
	struct text what = {.arena = arena};
	struct entry entry = {.fingerprint = text_of(arena, object, "fingerprint")};
	const char *code = text_of(arena, object, "code");
	const char *filename = text_of(arena, object, "filename");
	const char *message = text_of(arena, object, "message");

	if (!entry.fingerprint || !code || !filename || !message)
		return false;
	text_print(&what, "%s: %s %s", filename, code, message);
	entry.what = text_chars(&what);
	vec_push(arena, entries, entry);
	return true;
}

static const char *complain(struct arena *arena, const char *path, const char *why)
{
	struct text complaint = {.arena = arena};

	text_print(&complaint, "baseline %s: %s", path, why);
	return text_chars(&complaint);
}

static const char *read_entries(struct arena *arena, const char *path, entry_list *entries)
{
	const char *complaint = NULL;
	json_t *root = json_load(arena, path, &complaint);
	json_t *list = json_object_get(root, "findings");

	if (!root)
		complaint = complain(arena, path, complaint);
	else if (!json_is_array(list))
		complaint = complain(arena, path, "this is no baseline of graphlint");
	for (size_t i = 0; !complaint && i < json_array_size(list); i++) {
		if (!read_entry(arena, json_array_get(list, i), entries))
			complaint = complain(arena, path, "an entry lacks a field");
	}
	json_decref(root);
	return complaint;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;

	return strcmp(a->fingerprint, b->fingerprint);
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool is_listed(entry_list *entries, struct digest digest)
{
	char hex[DIGEST_HEX_LENGTH + 1];
	struct entry key = {.fingerprint = hex};
	struct entry *found;

	digest_hex(digest, hex);
	if (!entries->count)
		return false;
	found = bsearch(&key, entries->at, entries->count, sizeof(key), compare_entries);
	if (found)
		found->found = true;
	return found != NULL;
}

static void collect_stale(struct arena *arena, const entry_list *entries, struct outcome *outcome)
{
	for (uint32_t i = 0; i < entries->count; i++) {
		if (!entries->at[i].found)
			vec_push(arena, &outcome->stale, entries->at[i].what);
	}
	if (outcome->stale.count > 1)
		qsort(outcome->stale.at, outcome->stale.count, sizeof(*outcome->stale.at),
		      compare_texts);
}

const char *baseline_filter(struct arena *arena, const char *path, const char *root,
                            struct outcome *outcome)
{
	finding_list *findings = &outcome->findings;
	entry_list entries = {0};
	const char *complaint = read_entries(arena, path, &entries);
	struct digest *digests;
	uint32_t kept = 0;

	if (complaint)
		return complaint;
	if (entries.count > 1)
		qsort(entries.at, entries.count, sizeof(*entries.at), compare_entries);
	digests = findings_fingerprint(arena, findings, root);
	for (uint32_t i = 0; i < findings->count; i++) {
		if (is_listed(&entries, digests[i]))
			outcome->baselined++;
		else
			findings->at[kept++] = findings->at[i];
	}
	findings->count = kept;
	collect_stale(arena, &entries, outcome);
	return NULL;
}

void baseline_print(const finding_list *findings, const char *root, struct text *out)
{
	struct emitter json = {.out = out, .indents = true};
	struct arena arena = {0};
	struct digest *digests = findings_fingerprint(&arena, findings, root);

	emit_open_object(&json, NULL);
	emit_number(&json, "baseline", 1);
	emit_open_array(&json, "findings");
	for (uint32_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->at[i];
		char hex[DIGEST_HEX_LENGTH + 1];

		digest_hex(digests[i], hex);
		emit_open_object(&json, NULL);
		emit_text(&json, "code", finding->rule->code);
		emit_text(&json, "filename",
		          root ? path_below(&arena, root, finding->source->path)
		               : finding->source->path);
		emit_text(&json, "message", finding->message);
		emit_text(&json, "fingerprint", hex);
		emit_close_object(&json);
	}
	emit_close_array(&json);
	emit_close_object(&json);
	text_add_char(out, '\n');
	arena_release(&arena);
}
