#include <string.h>

#include "analyzer/fix/fix.h"
#include "analyzer/front/python_tree.h"

static bool overlaps(struct span a, struct span b)
{
	if (a.start == a.end || b.start == b.end) /* an insertion at an end is none */
		return a.start < b.end && b.start < a.end;
	return a.start < b.end && b.start < a.end;
}

static uint32_t errors_of(struct arena *scratch, const struct source *source)
{
	struct ir_module module = {.arena = scratch};
	struct front_result result = {.module = &module};
	struct py_tree tree;
	uint32_t errors = 0;

	memset(&tree, 0, sizeof(tree));
	py_tree_parse(&tree, scratch, &result, source, NULL);
	for (uint32_t n = 0; n < tree.count; n++)
		errors += py_kind(&tree, n) == PY_ERROR;
	return errors + tree.has_error;
}

/* A source of one program, whatever the file is. */
static const char *program_path(struct arena *arena, const struct source *source)
{
	const size_t length = strlen(source->path);
	struct text path = {.arena = arena};

	text_add(&path, source->path, length);
	if (source->is_notebook)
		text_add_chars(&path, ".py");
	return text_chars(&path);
}

struct source *fix_edited(struct arena *arena, const struct source *source, const edit_list *edits)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	struct source_problem problem;
	struct source *made;
	uint32_t done = 0;

	for (uint32_t i = 0; i < edits->count; i++) {
		const struct finding_edit *edit = &edits->at[i];

		if (edit->span.start < done || edit->span.end > source->length)
			return arena_release(&scratch), NULL;
		text_add(&text, source->text + done, edit->span.start - done);
		text_add_chars(&text, edit->text);
		done = edit->span.end;
	}
	text_add(&text, source->text + done, source->length - done);
	made = source_from_bytes(arena, program_path(arena, source), text_chars(&text), text.length,
	                         &problem);
	arena_release(&scratch);
	return made;
}

bool fix_is_sound(const struct source *fixed, const struct source *source)
{
	struct arena scratch = {0};
	const uint32_t errors = errors_of(&scratch, fixed);
	const bool sound = !errors || errors <= errors_of(&scratch, source);

	arena_release(&scratch);
	return sound;
}

struct source *fix_apply(struct arena *arena, const struct source *source, const edit_list *edits)
{
	struct source *made = fix_edited(arena, source, edits);

	return made && fix_is_sound(made, source) ? made : NULL;
}

uint32_t fix_move(const edit_list *edits, uint32_t offset)
{
	int64_t moved = offset;

	for (uint32_t i = 0; i < edits->count; i++) {
		const struct finding_edit *edit = &edits->at[i];

		if (edit->span.end > offset)
			break;
		moved += (int64_t)strlen(edit->text) - (int64_t)(edit->span.end - edit->span.start);
	}
	return (uint32_t)moved;
}

static bool is_same(const struct finding_edit *a, const struct finding_edit *b)
{
	return a->span.start == b->span.start && a->span.end == b->span.end &&
	       !strcmp(a->text, b->text);
}

static bool has(const edit_list *all, const struct finding_edit *edit)
{
	for (uint32_t i = 0; i < all->count; i++) {
		if (is_same(&all->at[i], edit))
			return true;
	}
	return false;
}

static bool fits(const edit_list *all, const struct finding_edit *edit)
{
	for (uint32_t i = 0; i < all->count; i++) {
		if (!is_same(&all->at[i], edit) && overlaps(all->at[i].span, edit->span))
			return false;
	}
	return true;
}

bool fix_merge(struct arena *arena, edit_list *all, const struct finding_fix *fix)
{
	edit_list merged = {0};
	uint32_t next = 0;

	for (uint32_t i = 0; i < fix->edits.count; i++) {
		if (!fits(all, &fix->edits.at[i]))
			return false;
	}
	for (uint32_t i = 0; i < fix->edits.count; i++) {
		const struct finding_edit *edit = &fix->edits.at[i];

		while (next < all->count && all->at[next].span.start <= edit->span.start) {
			vec_push(arena, &merged, all->at[next]);
			next++;
		}
		if (!has(all, edit))
			vec_push(arena, &merged, *edit);
	}
	while (next < all->count) {
		vec_push(arena, &merged, all->at[next]);
		next++;
	}
	*all = merged;
	return true;
}
