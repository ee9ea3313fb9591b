#ifndef GRAPHLINT_FIX_EDIT_H
#define GRAPHLINT_FIX_EDIT_H

/* The syntax tree with its parents, and edits in the making: what the builders
 * of fixes share. Private to the layer. */

#include "analyzer/fix/fix.h"
#include "analyzer/front/python_tree.h"

enum { FIX_MOST_CANDIDATES = 24, FIX_MOST_SLOTS = 6 };

struct fixer {
	struct arena *arena; /* of the result */
	struct arena scratch;
	struct py_tree tree;
	uint32_t *parents;
	const struct finding *finding;
	uint32_t node;      /* what the finding is on */
	uint32_t statement; /* around it */
	fix_list *fixes;
};

void fixer_open(struct fixer *f, struct arena *arena, const struct finding *finding,
                struct front_syntax *syntax, fix_list *fixes);
void fixer_release(struct fixer *f);

/* tree */
bool fixer_is_statement(const struct fixer *f, uint32_t node);
/* The nearest node of a kind around this one, itself included; 0: none. */
uint32_t fixer_around(const struct fixer *f, uint32_t node, enum py_kind kind);
/* The for or while statement around it, in the same function; 0: none. */
uint32_t fixer_loop(const struct fixer *f, uint32_t node);
bool fixer_same_text(const struct fixer *f, uint32_t a, uint32_t b);
bool fixer_has_text(const struct fixer *f, uint32_t node, const char *text);
/* The last part of what a call calls; "" when it has no name. */
bool fixer_calls(const struct fixer *f, uint32_t call, const char *name);
const char *fixer_text(const struct fixer *f, uint32_t node);

/* edits */
void fixer_insert(struct fixer *f, edit_list *edits, uint32_t at, const char *text);
void fixer_replace(struct fixer *f, edit_list *edits, struct span span, const char *text);
/* Puts a method call behind an expression, which gets parentheses if it needs them. */
void fixer_suffix(struct fixer *f, edit_list *edits, uint32_t node, const char *suffix);
/* How the file names torch; adds an import when it does not. */
const char *fixer_torch(struct fixer *f, edit_list *edits);
/* Adds a candidate if it parses; the title is the first line that changes. */
void fixer_offer(struct fixer *f, edit_list *edits, bool safe, const char *changes);

/* builders, by what the advice is */
void fix_stored(struct fixer *f);    /* stored.c: detach what is kept */
void fix_summed(struct fixer *f);    /* ... or added up */
void fix_carried(struct fixer *f);   /* ... or carried on */
void fix_cached(struct fixer *f);    /* ... or returned to a cache */
void fix_copied(struct fixer *f);    /* a copy instead of a view */
void fix_moved(struct fixer *f);     /* to the host */
void fix_averaged(struct fixer *f);  /* mode.c: under no_grad */
void fix_evaluated(struct fixer *f); /* the loop under no_grad */
void fix_entered(struct fixer *f);   /* a mode that is entered */
void fix_retained(struct fixer *f);  /* small.c: without retain_graph */
void fix_flushed(struct fixer *f);   /* without the call */
void fix_data(struct fixer *f);      /* .data */
void fix_context(struct fixer *f);   /* save_for_backward */

void fix_captured(struct fixer *f); /* captured.c: a hook's own tensor */

#endif
