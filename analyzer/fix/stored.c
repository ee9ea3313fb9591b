/* A value that is kept, added up, carried on or cached: the edit goes to the
 * expression that gives it. Which of several expressions carries the graph the
 * syntax does not tell; each is a candidate of its own. */

#include "analyzer/base/bug.h"
#include "analyzer/fix/edit.h"

/* Expressions that may be what is kept. */
struct slots {
	uint32_t at[FIX_MOST_SLOTS];
	uint32_t count;
};

static bool is_literal(enum py_kind kind)
{
	return kind == PY_integer || kind == PY_float || kind == PY_string || kind == PY_none ||
	       kind == PY_true || kind == PY_false || kind == PY_concatenated_string ||
	       kind == PY_ellipsis || kind == PY_comparison_operator || kind == PY_not_operator;
}

static void add_slot(struct slots *slots, uint32_t node)
{
	if (slots->count < FIX_MOST_SLOTS)
		slots->at[slots->count++] = node;
}

/* Looks into displays and comprehensions, up to a few levels. */
static void find_slots(const struct fixer *f, uint32_t node, struct slots *slots, int depth)
{
	const enum py_kind kind = py_kind(&f->tree, node);

	if (!node || depth > 4 || is_literal(kind))
		return;
	switch ((int)kind) {
	case PY_tuple:
	case PY_list:
	case PY_set:
	case PY_expression_list:
	case PY_dictionary:
		for (uint32_t c = py_first(&f->tree, node); c; c = py_next(&f->tree, node, c))
			find_slots(f, c, slots, depth + 1);
		break;
	case PY_pair:
	case PY_keyword_argument:
		find_slots(f, py_field(&f->tree, node, PY_F_value), slots, depth + 1);
		break;
	case PY_list_comprehension:
	case PY_set_comprehension:
	case PY_generator_expression:
	case PY_dictionary_comprehension:
		find_slots(f, py_field(&f->tree, node, PY_F_body), slots, depth + 1);
		break;
	case PY_list_splat:
	case PY_dictionary_splat:
	case PY_lambda:
		break;
	default:
		add_slot(slots, node);
	}
}

static void find_argument_slots(const struct fixer *f, uint32_t call, struct slots *slots)
{
	const uint32_t arguments = py_field(&f->tree, call, PY_F_arguments);

	if (!arguments)
		return;
	if (py_kind(&f->tree, arguments) == PY_generator_expression) {
		find_slots(f, arguments, slots, 0);
		return;
	}
	for (uint32_t c = py_first(&f->tree, arguments); c; c = py_next(&f->tree, arguments, c))
		find_slots(f, c, slots, 0);
}

/* A lambda's or a function's defaults keep what they are given. */
static void find_default_slots(const struct fixer *f, uint32_t node, struct slots *slots)
{
	for (uint32_t n = node; n < f->tree.nodes[node].next; n++) {
		if (py_kind(&f->tree, n) == PY_default_parameter)
			find_slots(f, py_field(&f->tree, n, PY_F_value), slots, 0);
	}
}

/* The statement's assignment; 0: it is none. */
static uint32_t assignment_at(const struct fixer *f, uint32_t node)
{
	uint32_t at = node;

	while (at && py_kind(&f->tree, at) != PY_assignment &&
	       py_kind(&f->tree, at) != PY_augmented_assignment) {
		if (fixer_is_statement(f, at)) {
			at = py_first(&f->tree, at);
			return at && (py_kind(&f->tree, at) == PY_assignment ||
			              py_kind(&f->tree, at) == PY_augmented_assignment)
			               ? at
			               : 0;
		}
		at = f->parents[at];
	}
	return at;
}

static uint32_t call_at(const struct fixer *f, uint32_t node)
{
	if (py_kind(&f->tree, node) == PY_expression_statement)
		node = py_first(&f->tree, node);
	if (py_kind(&f->tree, node) == PY_await)
		node = py_first(&f->tree, node);
	return py_kind(&f->tree, node) == PY_call ? node : 0;
}

static void offer_suffix(struct fixer *f, const struct slots *slots, uint32_t from, uint32_t to,
                         const char *suffix, bool safe, const char *changes)
{
	edit_list edits = {0};

	for (uint32_t i = from; i < to; i++)
		fixer_suffix(f, &edits, slots->at[i], suffix);
	fixer_offer(f, &edits, safe, changes);
}

static void offer_each(struct fixer *f, const struct slots *slots, const char *suffix, bool safe,
                       const char *changes)
{
	for (uint32_t i = 0; i < slots->count; i++)
		offer_suffix(f, slots, i, i + 1, suffix, safe, changes);
	if (slots->count > 1)
		offer_suffix(f, slots, 0, slots->count, suffix, safe, changes);
}

/* Of a collection that is handed over as a whole. */
static void offer_elements(struct fixer *f, uint32_t node, const char *before, const char *after)
{
	edit_list edits = {0};
	const struct span span = f->tree.nodes[node].span;

	fixer_insert(f, &edits, span.start, before);
	fixer_insert(f, &edits, span.end, after);
	fixer_offer(f, &edits, true, NULL);
}

static void offer_collections(struct fixer *f, const struct slots *slots)
{
	for (uint32_t i = 0; i < slots->count; i++)
		offer_elements(f, slots->at[i], "[value.detach() for value in ", "]");
	for (uint32_t i = 0; i < slots->count; i++)
		offer_elements(f, slots->at[i], "tuple(value.detach() for value in ", ")");
	for (uint32_t i = 0; i < slots->count; i++)
		offer_elements(f, slots->at[i], "{key: value.detach() for key, value in ",
		               ".items()}");
}

/* Of what is a tensor only sometimes. */
static void offer_where_tensor(struct fixer *f, const struct slots *slots)
{
	for (uint32_t i = 0; i < slots->count; i++) {
		const uint32_t node = slots->at[i];
		struct text text = {.arena = f->arena};
		edit_list edits = {0};
		const char *name;

		if (py_kind(&f->tree, node) != PY_identifier)
			continue;
		name = fixer_text(f, node);
		text_print(&text, "%s.detach() if isinstance(%s, %s.Tensor) else %s", name, name,
		           fixer_torch(f, &edits), name);
		fixer_replace(f, &edits, f->tree.nodes[node].span, text_chars(&text));
		fixer_offer(f, &edits, true, NULL);
	}
}

static void find_kept_slots(const struct fixer *f, uint32_t node, struct slots *slots)
{
	const uint32_t call = call_at(f, node), assignment = assignment_at(f, node);

	if (call) {
		find_argument_slots(f, call, slots);
		if (!slots->count)
			find_default_slots(f, call, slots);
	} else if (assignment) {
		const uint32_t right = py_field(&f->tree, assignment, PY_F_right);

		find_slots(f, right, slots, 0);
		find_default_slots(f, right, slots);
	} else {
		find_slots(f, node, slots, 0);
	}
}

/* Of a call on the right: what it is given, when the whole cannot be detached. */
static void find_given_slots(const struct fixer *f, uint32_t node, struct slots *slots)
{
	const uint32_t assignment = assignment_at(f, node);
	const uint32_t right = assignment ? py_field(&f->tree, assignment, PY_F_right) : 0;

	if (right && py_kind(&f->tree, right) == PY_call)
		find_argument_slots(f, right, slots);
}

void fix_stored(struct fixer *f)
{
	struct slots slots = {0}, given = {0};

	find_kept_slots(f, f->node, &slots);
	if (!slots.count && f->statement != f->node)
		find_kept_slots(f, f->statement, &slots);
	find_given_slots(f, f->node, &given);
	for (uint32_t i = 0; i < slots.count; i++) {
		if (py_kind(&f->tree, slots.at[i]) == PY_call)
			find_argument_slots(f, slots.at[i], &given);
	}
	offer_each(f, &slots, ".detach()", true, NULL);
	offer_each(f, &given, ".detach()", true, NULL);
	offer_where_tensor(f, &slots);
	offer_collections(f, &slots);
	offer_each(f, &slots, ".item()", false, "the type");
	offer_each(f, &given, ".item()", false, "the type");
}

/* total = total + loss, torch.cat([all, out]): what is not the old value. */
static void find_added_slots(const struct fixer *f, uint32_t node, uint32_t target,
                             struct slots *slots, int depth)
{
	const enum py_kind kind = py_kind(&f->tree, node);

	if (depth > 6 || is_literal(kind) || fixer_same_text(f, node, target))
		return;
	if (kind == PY_binary_operator) {
		find_added_slots(f, py_field(&f->tree, node, PY_F_left), target, slots, depth + 1);
		find_added_slots(f, py_field(&f->tree, node, PY_F_right), target, slots, depth + 1);
	} else if (kind == PY_call && depth < 2) {
		struct slots all = {0};

		find_argument_slots(f, node, &all);
		for (uint32_t i = 0; i < all.count; i++)
			find_added_slots(f, all.at[i], target, slots, depth + 2);
	} else {
		add_slot(slots, node);
	}
}

void fix_summed(struct fixer *f)
{
	const uint32_t assignment = assignment_at(f, f->node);
	struct slots slots = {0}, whole = {0};
	uint32_t right;

	if (!assignment) {
		fix_stored(f);
		return;
	}
	right = py_field(&f->tree, assignment, PY_F_right);
	find_slots(f, right, &whole, 0);
	if (py_kind(&f->tree, assignment) == PY_augmented_assignment) {
		offer_each(f, &whole, ".detach()", true, NULL);
		offer_each(f, &whole, ".item()", false, "the type");
		return;
	}
	find_added_slots(f, right, py_field(&f->tree, assignment, PY_F_left), &slots, 0);
	offer_each(f, &slots, ".detach()", true, NULL);
	offer_each(f, &whole, ".detach()", true, NULL);
	offer_each(f, &slots, ".item()", false, "the type");
}

/* carried-state */

/* Names and attributes that an assignment binds. */
static void find_targets(const struct fixer *f, uint32_t node, struct slots *targets)
{
	const enum py_kind kind = py_kind(&f->tree, node);

	if (kind == PY_identifier || kind == PY_attribute || kind == PY_subscript) {
		add_slot(targets, node);
		return;
	}
	for (uint32_t c = py_first(&f->tree, node); c; c = py_next(&f->tree, node, c))
		find_targets(f, c, targets);
}

/* Where the old value of a target is read on the right. */
static void find_uses(const struct fixer *f, uint32_t in, const struct slots *targets,
                      struct slots *uses)
{
	for (uint32_t n = in; n < f->tree.nodes[in].next; n++) {
		const uint32_t up = f->parents[n];
		const uint8_t field = f->tree.nodes[n].field;

		if ((py_kind(&f->tree, up) == PY_attribute && field == PY_F_attribute) ||
		    (py_kind(&f->tree, up) == PY_keyword_argument && field == PY_F_name))
			continue;
		for (uint32_t i = 0; i < targets->count; i++) {
			if (fixer_same_text(f, n, targets->at[i])) {
				add_slot(uses, n);
				break;
			}
		}
	}
}

static const char *blanks_before(const struct fixer *f, uint32_t node)
{
	const struct source *source = f->finding->source;
	const uint32_t start = f->tree.nodes[node].span.start;
	const struct span line = source_line_span(source, source_line_at(source, start));

	return arena_text(f->arena, source->text + line.start, start - line.start);
}

/* `state = state.detach()` as the loop's last statement. */
static void offer_at_end(struct fixer *f, const struct slots *targets, const char *format)
{
	const uint32_t loop = fixer_loop(f, f->statement);
	const uint32_t body = loop ? py_field(&f->tree, loop, PY_F_body) : 0;
	uint32_t last = 0;

	for (uint32_t c = body ? py_first(&f->tree, body) : 0; c; c = py_next(&f->tree, body, c))
		last = c;
	for (uint32_t i = 0; last && i < targets->count; i++) {
		const char *name = fixer_text(f, targets->at[i]);
		struct text line = {.arena = f->arena};
		edit_list edits = {0};
		const struct source *source = f->finding->source;
		const struct span span = source_line_span(
		        source, source_line_at(source, f->tree.nodes[last].span.end - 1));

		text_print(&line, "\n%s%s = ", blanks_before(f, last), name);
		if (format)
			text_print(&line, "%s(value.detach() for value in %s)", format, name);
		else
			text_print(&line, "%s.detach()", name);
		fixer_insert(f, &edits, span.end, text_chars(&line));
		fixer_offer(f, &edits, true, NULL);
	}
}

void fix_carried(struct fixer *f)
{
	const uint32_t assignment = assignment_at(f, f->node);
	struct slots targets = {0}, uses = {0}, whole = {0};
	uint32_t right;

	if (!assignment) {
		fix_stored(f);
		return;
	}
	right = py_field(&f->tree, assignment, PY_F_right);
	find_targets(f, py_field(&f->tree, assignment, PY_F_left), &targets);
	find_uses(f, right, &targets, &uses);
	if (uses.count)
		offer_suffix(f, &uses, 0, uses.count, ".detach()", true, NULL);
	offer_each(f, &uses, ".detach()", true, NULL);
	offer_at_end(f, &targets, NULL);
	offer_at_end(f, &targets, "tuple");
	find_slots(f, right, &whole, 0);
	offer_each(f, &whole, ".detach()", true, NULL);
	find_given_slots(f, f->node, &whole);
	offer_each(f, &whole, ".detach()", true, NULL);
}

/* cached-graph: what the function returns */
void fix_cached(struct fixer *f)
{
	uint32_t function = fixer_around(f, f->node, PY_decorated_definition);
	edit_list edits = {0};

	function = function ? py_field(&f->tree, function, PY_F_definition) : 0;
	if (!function || f->tree.nodes[f->node].span.start >= f->tree.nodes[function].span.start) {
		fix_stored(f);
		return;
	}
	for (uint32_t n = function; n < f->tree.nodes[function].next; n++) {
		struct slots slots = {0};

		if (py_kind(&f->tree, n) != PY_return_statement || !py_first(&f->tree, n))
			continue;
		find_slots(f, py_first(&f->tree, n), &slots, 0);
		for (uint32_t i = 0; i < slots.count; i++)
			fixer_suffix(f, &edits, slots.at[i], ".detach()");
	}
	fixer_offer(f, &edits, true, NULL);
}

void fix_copied(struct fixer *f)
{
	struct slots slots = {0};

	find_kept_slots(f, f->node, &slots);
	offer_each(f, &slots, ".clone()", true, NULL);
}

void fix_moved(struct fixer *f)
{
	struct slots slots = {0};

	find_kept_slots(f, f->node, &slots);
	if (slots.count == 1)
		offer_each(f, &slots, ".cpu()", false, "the device");
}
