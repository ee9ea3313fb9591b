#include "analyzer/fix/fix.h"

#include <string.h>

#include "analyzer/finding/rule.h"
#include "analyzer/fix/edit.h"

static const struct {
	const char *slug;
	void (*build)(struct fixer *f);
} builders[] = {
        {"average-builds-graph", fix_averaged},
        {"cache-flush-per-step", fix_flushed},
        {"cached-graph", fix_cached},
        {"carried-state", fix_carried},
        {"context-attribute", fix_context},
        {"data-attribute", fix_data},
        {"device-tensor-growth", fix_moved},
        {"eval-builds-graph", fix_evaluated},
        {"grad-mode-left-changed", fix_entered},
        {"graph-accumulator", fix_summed},
        {"graph-in-attribute", fix_stored},
        {"graph-in-dict", fix_stored},
        {"graph-in-list", fix_stored},
        {"hook-cycle", fix_captured},
        {"hook-stash", fix_stored},
        {"last-graph-kept", fix_stored},
        {"no-grad-not-entered", fix_entered},
        {"retain-graph", fix_retained},
        {"view-pins-storage", fix_copied},
};

void fix_candidates(struct arena *arena, const struct finding *finding, struct front_syntax *syntax,
                    fix_list *fixes)
{
	struct fixer f;

	for (size_t i = 0; i < sizeof(builders) / sizeof(builders[0]); i++) {
		if (strcmp(builders[i].slug, finding->rule->slug) != 0)
			continue;
		fixer_open(&f, arena, finding, syntax, fixes);
		if (f.node && f.statement)
			builders[i].build(&f);
		fixer_release(&f);
	}
}
