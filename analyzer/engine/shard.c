/* A shard starts its analyses at its own files and uses the others as far as they
 * are imported. What it finds may lie in any file, and what it does not find may be
 * found from others: shards.c puts the shards together. */

#include <string.h>

#include "analyzer/engine/run.h"
#include "analyzer/engine/shards.h"

bool run_is_in_shard(const struct run *run, const char *path)
{
	const struct engine_settings *settings = run->settings;

	return !settings->shards || shard_of(path, settings->shards) == settings->shard;
}

/* Without shards, code that matters is there for whoever looks, by an import or not.
 * What only replays look for is left to the merge: it is not worth all analyses. */
bool run_shard_widen(struct run *run)
{
	bool wider = false;

	if (!run->settings->shards || run->cache.reuses_all)
		return false;
	for (uint32_t i = 0; i < project_lookup_count(run->project); i++) {
		const struct project_lookup lookup = project_lookup_at(run->project, i);
		const struct project_file *to = lookup.to == PROJECT_NOTHING
		                                        ? NULL
		                                        : project_file_at(run->project, lookup.to);

		if (lookup.scans || !to || !to->waits || !to->relevant || to->wanted ||
		    run->owners[to->number]->asked_for)
			continue;
		run->owners[to->number]->asked_for = wider = true;
	}
	return wider;
}

/* What is unused or could not be read in a file is its own shard's to tell. */
void run_shard_filter(struct run *run)
{
	struct outcome *outcome = &run->outcome;
	const struct rule *unused = rule_find(run->rules, "unused-suppression");
	uint32_t kept = 0;

	for (uint32_t i = 0; i < outcome->findings.count; i++) {
		const struct finding *finding = &outcome->findings.at[i];

		if (finding->rule != unused || run_is_in_shard(run, finding->source->path))
			outcome->findings.at[kept++] = *finding;
	}
	outcome->findings.count = kept;
	kept = 0;
	for (uint32_t i = 0; i < outcome->skipped.count; i++) {
		if (run_is_in_shard(run, outcome->skipped.at[i].path))
			outcome->skipped.at[kept++] = outcome->skipped.at[i];
	}
	outcome->skipped.count = kept;
}

void run_record(struct run *run, struct text *out)
{
	struct run_cache *cache = &run->cache;

	if (cache->leaves)
		cache_index_pack(&cache->left, out);
	else if (cache->reuses_all &&
	         cache_index_read_rest(&run->arena, cache->path, &cache->index))
		cache_index_pack(&cache->index, out);
}
