/* Edits: what they leave parses, and replayed it keeps no graph. */

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/engine/found.h"
#include "analyzer/fix/fix.h"
#include "rules/rules.h"

/* A program, what is found in it, and what came of the search. */
struct trial {
	struct arena arena;
	struct intern *names;
	struct thread_pool *pool;
	struct project *project;
	const struct source *source;
	finding_list findings;
	struct finding *about[64];
	struct replay_result before;
	struct fix_search search;
};

static void trial_open(struct trial *t, struct source *source)
{
	ck_assert(source != NULL);
	t->source = source;
	t->names = intern_open();
	t->pool = thread_pool_open(1);
	t->project = project_open(t->names);
	project_add(t->project, source);
	project_load(t->project, t->pool, true);
	found_in_project(&t->arena, t->project, t->pool, rules_all(), &t->findings);
	t->search.request = (struct replay_request){
	        .arena = &t->arena,
	        .names = t->names,
	        .module = project_file_at(t->project, 0)->lowered.module,
	        .iterations = 16,
	};
	t->before = replay_run(&t->search.request);
	t->search.before = &t->before;
	t->search.findings = t->about;
	for (uint32_t i = 0; i < t->findings.count && i < 64; i++)
		t->about[t->search.count++] = &t->findings.at[i];
	fix_search(&t->search);
}

static void trial_text(struct trial *t, const char *text)
{
	struct source_problem problem;

	*t = (struct trial){0};
	trial_open(t, source_from_bytes(&t->arena, "program.py", text, strlen(text), &problem));
}

static void trial_fixture(struct trial *t, const char *slug)
{
	struct source_problem problem;
	char path[512];

	*t = (struct trial){0};
	snprintf(path, sizeof(path), "%s/fixtures/%s/bad.py", GRAPHLINT_ROOT, slug);
	trial_open(t, source_open(&t->arena, path, &problem));
}

static void trial_close(struct trial *t)
{
	project_close(t->project);
	thread_pool_close(t->pool);
	intern_close(t->names);
	arena_release(&t->arena);
}

static bool grows(const struct replay_verdict *verdict)
{
	return verdict->kind == REPLAY_LINEAR || verdict->kind == REPLAY_SUPERLINEAR;
}

/* bytes: the most that what is kept on purpose may add a step. */
static const struct {
	const char *slug;
	double bytes;
} fixtures[] = {
        {"average-builds-graph", 0}, {"carried-state", 0},      {"context-attribute", 0},
        {"graph-accumulator", 0},    {"graph-in-attribute", 4}, {"graph-in-dict", 4},
        {"graph-in-list", 4},        {"hook-cycle", 0},         {"hook-stash", 1920},
        {"view-pins-storage", 480},
};

START_TEST(fixture_is_flat_after_its_fix)
{
	const char *slug = fixtures[_i].slug;
	struct trial t;

	trial_fixture(&t, slug);
	ck_assert_msg(grows(&t.before.nodes) || grows(&t.before.bytes), "%s does not grow", slug);
	ck_assert_msg(t.search.fixed > 0, "%s: nothing was fixed", slug);
	ck_assert_msg(!grows(&t.search.after.nodes), "%s: nodes grow after the fix", slug);
	ck_assert_msg(!grows(&t.search.after.bytes) ||
	                      t.search.after.bytes.slope <= fixtures[_i].bytes,
	              "%s: %g bytes a step after the fix", slug, t.search.after.bytes.slope);
	ck_assert_msg(t.search.after.trained == t.before.trained, "%s trains otherwise", slug);
	trial_close(&t);
}
END_TEST

/* Programs with the line that must come out of them. */
#define HEAD                                                                                       \
	"import torch\nfrom torch import nn\ntorch.manual_seed(1)\nnet = nn.Linear(4, 1)\n"        \
	"opt = torch.optim.SGD(net.parameters(), lr=0.1)\nkept, total, d = [], 0, {}\n"            \
	"for i in range(20):\n    loss = net(torch.randn(8, 4)).pow(2).mean()\n"                   \
	"    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"

static const struct {
	const char *program, *title;
	bool safe;
} cases[] = {
        {HEAD "    kept.append((i, loss))\n", "`kept.append((i, loss.detach()))`", true},
        {HEAD "    kept.append(loss * 2 + 1)\n", "`kept.append((loss * 2 + 1).detach())`", true},
        {HEAD "    kept += [loss]\n", "`kept += [loss.detach()]`", true},
        {HEAD "    total = total + loss\n", "`total = total + loss.detach()`", true},
        {HEAD "    total += loss  # so far\n", "`total += loss.detach()`", true},
        {HEAD "    total += loss\n", "`total += loss.item()`", false},
        {HEAD "    d[i] = {'loss': loss, 'i': i}\n", "`d[i] = {'loss': loss.detach(), 'i': i}`",
         true},
        {HEAD "    kept.append(\n        loss,\n    )\n", "`loss.detach(),`", true},
        {HEAD "    for value in (loss, loss.item()):\n        kept.append(value)\n",
         "`kept.append(value.detach() if isinstance(value, torch.Tensor) else value)`", true},
        {HEAD "    kept.extend(part for part in [loss])\n",
         "`kept.extend(part.detach() for part in [loss])`", true},
};

START_TEST(edit_is_what_the_advice_means)
{
	struct trial t;
	bool found = false;

	trial_text(&t, cases[_i].program);
	ck_assert_msg(t.search.fixed == 1, "%s: %u fixed", cases[_i].title, t.search.fixed);
	for (uint32_t i = 0; i < t.findings.count; i++) {
		const struct finding *finding = &t.findings.at[i];

		for (uint32_t k = 0; k < finding->fixes.count; k++)
			found |= !strcmp(finding->fixes.at[k].title, cases[_i].title) &&
			         finding->fixes.at[k].safe == cases[_i].safe;
	}
	ck_assert_msg(found, "no fix is %s", cases[_i].title);
	ck_assert(!grows(&t.search.after.nodes));
	trial_close(&t);
}
END_TEST

/* A graph that is needed must not be cut: training would be another. */
START_TEST(what_trains_otherwise_is_not_safe)
{
	struct trial t;

	trial_text(&t, "import torch\n"
	               "from torch import nn\n"
	               "torch.manual_seed(1)\n"
	               "cell = nn.Linear(6, 6)\n"
	               "opt = torch.optim.SGD(cell.parameters(), lr=0.1)\n"
	               "state = torch.zeros(2, 6)\n"
	               "for i in range(20):\n"
	               "    state = cell(state + torch.randn(2, 6)).tanh()\n"
	               "    opt.zero_grad()\n"
	               "    state.pow(2).mean().backward(retain_graph=True)\n");
	for (uint32_t i = 0; i < t.findings.count; i++) {
		const struct finding *finding = &t.findings.at[i];

		for (uint32_t k = 0; k < finding->fixes.count; k++)
			ck_assert_msg(
			        !finding->fixes.at[k].safe ||
			                !strstr(finding->fixes.at[k].title, "tanh().detach()"),
			        "%s", finding->fixes.at[k].title);
	}
	trial_close(&t);
}
END_TEST

START_TEST(edits_move_what_follows)
{
	struct arena arena = {0};
	struct source_problem problem;
	const char text[] = "a = b\nc = d\n";
	struct source *source =
	                      source_from_bytes(&arena, "program.py", text, strlen(text), &problem),
	              *made;
	edit_list all = {0};
	struct finding_fix one = {0}, two = {0};

	vec_push(&arena, &one.edits, (struct finding_edit){{4, 5}, "f(b)"});
	vec_push(&arena, &two.edits, (struct finding_edit){{4, 5}, "g"});
	ck_assert(fix_merge(&arena, &all, &one));
	ck_assert(fix_merge(&arena, &all, &one)); /* the same edit is no conflict */
	ck_assert(!fix_merge(&arena, &all, &two));
	ck_assert_uint_eq(all.count, 1);
	made = fix_apply(&arena, source, &all);
	ck_assert_str_eq(made->text, "a = f(b)\nc = d\n");
	ck_assert_uint_eq(fix_move(&all, 6), 9);
	all.at[0].text = "f(";
	ck_assert_ptr_null(fix_apply(&arena, source, &all));
	arena_release(&arena);
}
END_TEST

Suite *fix_suite(void);

Suite *fix_suite(void)
{
	Suite *suite = suite_create("fix");
	TCase *tc = tcase_create("edits");

	tcase_add_loop_test(tc, fixture_is_flat_after_its_fix, 0,
	                    sizeof(fixtures) / sizeof(fixtures[0]));
	tcase_add_loop_test(tc, edit_is_what_the_advice_means, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, what_trains_otherwise_is_not_safe);
	tcase_add_test(tc, edits_move_what_follows);
	suite_add_tcase(suite, tc);
	return suite;
}
