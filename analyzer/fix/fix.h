#ifndef GRAPHLINT_FIX_FIX_H
#define GRAPHLINT_FIX_FIX_H

/* What a rule's advice means as edits of the source. Candidates are a pure
 * function of finding and text, and nothing is known of them: whether one still
 * parses is seen when it is tried. fix_search tries them by replay and keeps what makes the curve
 * better. Edits of one fix do not overlap and are sorted; everything lives in the arena that is
 * given. */

#include "analyzer/finding/finding.h"
#include "analyzer/front/front.h"
#include "analyzer/replay/replay.h"

typedef VEC(struct finding_fix) fix_list;
typedef VEC(struct finding_edit) edit_list;

/* Best first; none when the rule has no edit, or the code is of another form. */
void fix_candidates(struct arena *arena, const struct finding *finding, struct front_syntax *syntax,
                    fix_list *fixes);

/* The text after the edits, as a source of its own; NULL: they overlap, or what
 * they leave does not parse. A notebook becomes one program. */
struct source *fix_apply(struct arena *arena, const struct source *source, const edit_list *edits);
/* The same, whether it parses or not. */
struct source *fix_edited(struct arena *arena, const struct source *source, const edit_list *edits);
/* Whether no more of it is broken than was before. */
bool fix_is_sound(const struct source *fixed, const struct source *source);
/* Where an offset of the old text is in the new one. */
uint32_t fix_move(const edit_list *edits, uint32_t offset);
/* Adds edits to sorted ones; false, and nothing is added, if any overlap. */
bool fix_merge(struct arena *arena, edit_list *all, const struct finding_fix *fix);

/* --- search.c */
/* The program with some edits of one of its files, on the loop that `before` was measured
 * on and for as many steps; false: it does not parse. `request` must outlive `edited`,
 * `syntax` is the file's. */
bool fix_request(const struct replay_request *request, const struct source *source,
                 const edit_list *edits, const struct replay_result *before,
                 struct front_syntax *syntax, struct replay_request *edited);
/* The same, replayed; no samples: it does not parse. */
struct replay_result fix_replay(const struct replay_request *request, const struct source *source,
                                const edit_list *edits, const struct replay_result *before,
                                struct front_syntax *syntax);

struct fix_search {
	struct replay_request request; /* of the replay before; .arena is used throughout */
	const struct replay_result *before;
	struct finding *const *findings; /* sorted; what is found is added to their fixes */
	uint32_t count;
	uint32_t most_replays;       /* 0: no bound */
	struct front_syntax *syntax; /* of the program; NULL: it is parsed again */
	/* out */
	struct replay_result after; /* with the safest fix of each finding */
	uint32_t fixed;             /* findings that have one */
	uint32_t replays;
	/* of the file that was searched last; `request` has those of the files before it */
	const struct source *source;
	edit_list edits;
};

void fix_search(struct fix_search *search);
/* "nodes flat, +4 B per step" */
const char *fix_curve(struct arena *arena, const struct replay_result *result);

#endif
