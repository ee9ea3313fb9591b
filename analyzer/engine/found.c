#include "analyzer/engine/found.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/finding/tell.h"

static struct digest function_digest(const struct function_place *place)
{
	const uint32_t numbers[] = {place->span.start, place->span.end, place->kind};

	return digest_join(digest_bytes(place->path, strlen(place->path)),
	                   digest_bytes(numbers, sizeof(numbers)));
}

void found_tell(struct arena *arena, struct rule_table rules, const struct file_events *events,
                struct file_found *found)
{
	for (uint32_t i = 0; i < events->found.count; i++) {
		const struct found_event *event = &events->found.at[i];
		struct found_finding told = {
		        .in = function_digest(&event->in),
		        .from_outside = event->from_outside,
		};

		if (tell_finding(arena, rules, &event->event, &told.finding))
			vec_push(arena, &found->findings, told);
	}
	for (uint32_t i = 0; i < events->known.count; i++)
		vec_push(arena, &found->known, function_digest(&events->known.at[i]));
}

/* packing */

void found_pack(struct text *out, const struct file_found *found)
{
	pack_number(out, found->findings.count);
	for (uint32_t i = 0; i < found->findings.count; i++) {
		const struct found_finding *told = &found->findings.at[i];

		pack_finding(out, &told->finding);
		pack_number(out, told->from_outside);
		if (told->from_outside)
			pack_digest(out, told->in);
	}
	pack_number(out, found->known.count);
	for (uint32_t i = 0; i < found->known.count; i++)
		pack_digest(out, found->known.at[i]);
}

bool found_unpack(struct finding_unpacking *unpacking, struct file_found *found)
{
	struct unpacking *in = &unpacking->in;
	uint32_t count = unpack_count(in);

	for (uint32_t i = 0; i < count; i++) {
		struct found_finding told = {0};

		if (!unpack_finding(unpacking, &told.finding))
			return false;
		told.from_outside = unpack_number(in) != 0;
		if (told.from_outside)
			told.in = unpack_digest(in);
		vec_push(in->arena, &found->findings, told);
	}
	count = unpack_count(in);
	for (uint32_t i = 0; i < count && !in->broken; i++)
		vec_push(in->arena, &found->known, unpack_digest(in));
	return !in->broken;
}

/* joining */

static int compare_digests(const void *left, const void *right)
{
	const struct digest *a = left;
	const struct digest *b = right;

	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	return a->low < b->low ? -1 : a->low > b->low;
}

void found_join(struct arena *arena, const found_list *files, finding_list *findings)
{
	VEC(struct digest) known = {0};

	for (uint32_t f = 0; f < files->count; f++)
		for (uint32_t i = 0; i < files->at[f].known.count; i++)
			vec_push(arena, &known, files->at[f].known.at[i]);
	if (known.count)
		qsort(known.at, known.count, sizeof(*known.at), compare_digests);
	for (uint32_t f = 0; f < files->count; f++) {
		for (uint32_t i = 0; i < files->at[f].findings.count; i++) {
			const struct found_finding *told = &files->at[f].findings.at[i];

			if (told->from_outside && known.count &&
			    bsearch(&told->in, known.at, known.count, sizeof(*known.at),
			            compare_digests))
				continue;
			vec_push(arena, findings, told->finding);
		}
	}
	settle_findings(arena, findings);
}

void found_in_project(struct arena *arena, const struct project *project, struct thread_pool *pool,
                      struct rule_table rules, finding_list *findings)
{
	struct project_events events = {0};
	found_list found = {0};

	analyze_project(project, pool, arena, &events);
	for (uint32_t i = 0; i < events.files.count; i++) {
		struct file_found told = {0};

		found_tell(arena, rules, &events.files.at[i], &told);
		vec_push(arena, &found, told);
	}
	found_join(arena, &found, findings);
}
