/* What a replay sees at the places that it watches, who needs what a loop keeps, and
 * programs that nothing but a healing machine gets to run. */

#include <check.h>
#include <string.h>

#include "tests/watched_runner.h"

#define NET                                                                                        \
	"import torch\nfrom torch import nn\nnet = nn.Linear(4, 2)\n"                              \
	"opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"

static struct arena arena;
static struct intern *names;

static void enter(void)
{
	names = intern_open();
}

static void leave(void)
{
	intern_close(names);
	arena_release(&arena);
}

static struct replay_result run_watched(const struct watched *w, bool born)
{
	return watched_run(&arena, names, w, born);
}

/* --- graphs that are recorded */

static const struct {
	struct watched watched;
	bool recorded;
} recorded[] = {
        {{NET "for i in range(20):\n    out = net(torch.randn(8, 4))\n    print(out.shape)\n",
          "net(torch.randn(8, 4))"},
         true},
        {{NET "for i in range(20):\n    with torch.no_grad():\n"
              "        out = net(torch.randn(8, 4))\n",
          "net(torch.randn(8, 4))"},
         false},
        {{NET "for i in range(20):\n    out = net(torch.randn(8, 4))\n    opt.zero_grad()\n"
              "    out.sum().backward()\n    opt.step()\n",
          "net(torch.randn(8, 4))"},
         false},
        {{"def evaluate(model, loader):\n    model.eval()\n    for x in loader:\n"
          "        out = model(x)\n        print(out)\n",
          "model(x)"},
         true},
        {{"def evaluate(model, loader):\n    model.eval()\n    for p in model.parameters():\n"
          "        p.requires_grad = False\n    for x in loader:\n        out = model(x)\n",
          "model(x)"},
         false},
        /* a function that nobody calls has what decorates it */
        {{"import torch\n@torch.no_grad()\ndef evaluate(model, loader):\n    model.eval()\n"
          "    for x in loader:\n        out = model(x)\n",
          "model(x)"},
         false},
        {{"import torch\nclass Run:\n    @torch.no_grad()\n    def evaluate(self, model, loader):\n"
          "        model.eval()\n        for x in loader:\n            out = model(x)\n",
          "model(x)"},
         false},
        /* a call whose inside raises in every step */
        {{"def run(model, x):\n    return model(x)[None.size]\n"
          "def evaluate(model, loader):\n    model.eval()\n    for x in loader:\n"
          "        a, b = run(model, x)\n",
          "run(model, x)"},
         true},
        /* a condition that holds too late, an early return, and what comes before it */
        {{NET "for i in range(20):\n    if i < 1000:\n        out = i\n    else:\n"
              "        out = net(torch.randn(8, 4))\n",
          "net(torch.randn(8, 4))"},
         true},
        {{NET "class Run:\n    filled = 0\n    def learn(self, x):\n        if self.filled < 8:\n"
              "            return\n        print(net(x).shape)\n",
          "net(x)"},
         true},
        {{NET "class Run:\n    filled = 0\n    @torch.no_grad()\n    def learn(self, x):\n"
              "        if self.filled < 8:\n            return\n        print(net(x).shape)\n",
          "net(x)"},
         false},
        /* loops that have too few turns, or none */
        {{NET "for i in range(20):\n    out = net(torch.randn(8, 4))\n    if i:\n        break\n",
          "net(torch.randn(8, 4))"},
         true},
        {{NET "for layer in []:\n    while layer.off > 3:\n        out = net(torch.randn(8, 4))\n",
          "net(torch.randn(8, 4))"},
         true},
        {{"import torch\ndef evaluate(model, loader):\n    model.eval()\n    for x in loader:\n"
          "        out = model(x.type(torch.FloatTensor))\n        print(out.squeeze())\n",
          "model(x.type(torch.FloatTensor))"},
         true},
        /* known to carry a graph by nothing but what the caller says */
        {{"def evaluate(score, loader):\n    for x in loader:\n        out = score(x)\n",
          "score(x)"},
         true},
};

START_TEST(graphs_that_no_backward_uses_are_seen)
{
	struct replay_result r = run_watched(&recorded[_i].watched, true);

	ck_assert_uint_ge(r.count, REPLAY_LEAST);
	ck_assert_uint_ge(r.watched[0], REPLAY_LEAST);
	ck_assert_msg(recorded[_i].recorded ? r.seen[0].recorded == r.watched[0]
	                                    : r.seen[0].recorded == 0,
	              "recorded in %u of %u", r.seen[0].recorded, r.watched[0]);
	if (strstr(recorded[_i].watched.program, "score"))
		ck_assert_uint_eq(run_watched(&recorded[_i].watched, false).seen[0].recorded, 0);
}
END_TEST

/* --- what is known to carry a graph, of a model that nothing is known of */

#define PREDICT(more)                                                                              \
	"def predict(model, x, size):\n    state = model.begin(size)\n    for t in range(9):\n"    \
	"        (y, state) = model(x, state)\n" more "    return int(y.argmax())\n"

START_TEST(what_is_unpacked_of_a_call_may_be_known_to_have_its_graph)
{
	const struct watched carried = {PREDICT(""), "(y, state)"};
	const struct watched cut = {PREDICT("        state = state.detach()\n"), "(y, state)"};

	ck_assert_int_eq(run_watched(&carried, true).nodes.kind, REPLAY_LINEAR);
	ck_assert_int_le(run_watched(&carried, false).nodes.kind, REPLAY_BOUNDED);
	ck_assert_int_le(run_watched(&cut, true).nodes.kind, REPLAY_BOUNDED);
}
END_TEST

/* --- graphs that are retained */

#define SCRIPT                                                                                     \
	"import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\n"                       \
	"y.sum().backward(retain_graph=True)\n"
#define SHOW                                                                                       \
	"for i in range(3):\n    print(i)\ndef show(model, x):\n    out = model(x)\n"              \
	"    out.backward(gradient=x, retain_graph=True)\n"

/* No loop is around it; the last backward uses what it retained. */
static const struct {
	struct watched watched;
	bool reused;
} alone[] = {
        {{SCRIPT, "y.sum().backward(retain_graph=True)"}, false},
        {{SCRIPT "y.mean().backward()\n", "y.sum().backward(retain_graph=True)"}, true},
        {{SHOW, "out.backward(gradient=x, retain_graph=True)"}, false},
        {{SHOW "    out.backward()\n", "out.backward(gradient=x, retain_graph=True)"}, true},
};

START_TEST(what_no_loop_is_around_runs_again)
{
	struct replay_result r = run_watched(&alone[_i].watched, false);

	ck_assert_uint_ge(r.seen[0].retained, REPLAY_LEAST);
	ck_assert_int_eq(r.seen[0].reused, alone[_i].reused);
	ck_assert(!r.exact);
}
END_TEST

#define TWICE                                                                                      \
	NET "for i in range(20):\n    out = net(torch.randn(8, 4)).pow(2)\n    opt.zero_grad()\n"  \
	    "    out.sum().backward(retain_graph=True)\n"

START_TEST(what_is_retained_is_used_or_not)
{
	struct replay_result r =
	        run_watched(&(struct watched){TWICE "    opt.step()\n",
	                                      "out.sum().backward(retain_graph=True)"},
	                    false);

	ck_assert_uint_ge(r.seen[0].retained, REPLAY_LEAST);
	ck_assert(!r.seen[0].reused);
	r = run_watched(&(struct watched){TWICE "    out.mean().backward()\n    opt.step()\n",
	                                  "out.sum().backward(retain_graph=True)"},
	                false);
	ck_assert_uint_ge(r.seen[0].retained, REPLAY_LEAST);
	ck_assert(r.seen[0].reused);
}
END_TEST

/* --- whose growth it is */

#define STEPS(keep)                                                                                \
	NET "kept, total, table = [], torch.zeros(()), torch.zeros(32)\n"                          \
	    "def put(to, x):\n    to.append(x)\n"                                                  \
	    "for i in range(20):\n    out = net(torch.randn(8, 4))\n" keep
#define LOADED(keep)                                                                               \
	NET "import torch.nn.functional as F\ndef run(model, loader, n):\n    model.eval()\n"      \
	    "    total, table, state = 0, torch.zeros(3, 5), model(n)\n    for x in "              \
	    "loader:\n" keep

/* The loop's nodes grow in each of them, or its bytes. */
static const struct {
	struct watched watched;
	bool nodes;
	double bytes;
} shares[] = {
        {{STEPS("    kept.append(out)\n"), "kept.append(out)"}, true, 64},
        {{STEPS("    kept.append(out)\n    last = [out.sum()]\n"), "last = [out.sum()]"}, false, 0},
        {{STEPS("    put(kept, out)\n"), "put(kept, out)"}, true, 64},
        {{STEPS("    put(kept, out)\n    put([], out.sum())\n"), "put([], out.sum())"}, false, 0},
        /* all of it is held, by a chain */
        {{STEPS("    total = total + out.sum()\n"), "total = total + out.sum()"}, true, 0},
        {{STEPS("    total.add_(out.sum())\n"), "total.add_(out.sum())"}, true, 0},
        {{STEPS("    kept.append(out)\n    total.add_(out.sum().item())\n"),
          "total.add_(out.sum().item())"},
         false,
         0},
        {{STEPS("    table[i] = out.sum()\n"), "table[i] = out.sum()"}, true, 0},
        {{STEPS("    kept.append(out)\n    table[i] = out.detach().sum()\n"),
          "table[i] = out.detach().sum()"},
         false,
         0},
        /* numbers beside what is more */
        {{STEPS("    kept.append(out.detach())\n    put(kept, out.detach().sum())\n"),
          "put(kept, out.detach().sum())"},
         false,
         4},
        /* what is not known goes into the graph by keyword, by an index, in a shape that
         * does not fit */
        {{LOADED("        total += F.smooth_l1_loss(input=net(x), target=n.y)\n"),
          "total += F.smooth_l1_loss(input=net(x), target=n.y)"},
         true,
         0},
        {{LOADED("        state = state[torch.arange(3)]\n"), "state = state[torch.arange(3)]"},
         true,
         0},
        {{LOADED("        table[0, n:] = net(x)[:, 0]\n"), "table[0, n:] = net(x)[:, 0]"}, true, 0},
};

START_TEST(a_place_has_its_share_of_what_grows)
{
	struct replay_result r = run_watched(&shares[_i].watched, false);
	const struct replay_share *share = &r.seen[0].share;

	ck_assert(replay_grows(r.nodes.kind) || replay_grows(r.bytes.kind));
	ck_assert_int_eq(replay_grows(share->nodes.kind), shares[_i].nodes);
	if (shares[_i].bytes > 0)
		ck_assert_double_eq(share->bytes.slope, shares[_i].bytes);
	else if (!shares[_i].nodes)
		ck_assert(!replay_grows(share->bytes.kind));
}
END_TEST

/* --- functions of autograd, which nothing applies */

#define FUNCTION(parameters, forward, backward)                                                    \
	"import torch\nclass Scale(torch.autograd.Function):\n    @staticmethod\n"                 \
	"    def forward(ctx, " parameters "):\n" forward                                          \
	"    @staticmethod\n    def backward(ctx, g):\n" backward

static const struct {
	struct watched watched;
	bool stored;
} functions[] = {
        /* an operand turns out to be a tensor, here and there */
        {{FUNCTION("x, w", "        ctx.w = w\n        return torch.mul(x, w)\n",
                   "        return g * ctx.w, None\n"),
          "ctx.w = w"},
         true},
        {{FUNCTION("x, w: torch.Tensor = None", "        ctx.w = w\n        return x * 2\n",
                   "        return g * 2, None\n"),
          "ctx.w = w"},
         true},
        {{FUNCTION("x", "        ctx.y = torch.exp(x)\n        return ctx.y * 1\n",
                   "        return g * ctx.y\n"),
          "ctx.y = torch.exp(x)"},
         true},
        /* its loops are not what is measured */
        {{FUNCTION("x, blocks",
                   "        for block in blocks:\n            x = torch.exp(x)\n"
                   "        ctx.y = x\n        return x\n",
                   "        for block in ctx.blocks:\n            g.sum().backward()\n"
                   "        return g, None\n"),
          "ctx.y = x"},
         true},
        /* numbers, sizes, and what is saved as it should be */
        {{FUNCTION("x, scale=2", "        ctx.scale = scale\n        return x.exp() * 2\n",
                   "        return g * 2, None\n"),
          "ctx.scale = scale"},
         false},
        {{FUNCTION("x", "        ctx.size = x.shape\n        return torch.exp(x)\n",
                   "        return g.view(ctx.size)\n"),
          "ctx.size = x.shape"},
         false},
        {{FUNCTION("x", "        ctx.n = torch.exp(x).numel()\n        return torch.exp(x)\n",
                   "        return g * ctx.n\n"),
          "ctx.n = torch.exp(x).numel()"},
         false},
};

START_TEST(functions_of_autograd_are_applied)
{
	struct replay_result r = run_watched(&functions[_i].watched, false);

	ck_assert_uint_ge(r.count, REPLAY_LEAST);
	ck_assert_uint_eq(r.watched[0], r.count);
	/* What is a tensor is known from the first call on. */
	if (functions[_i].stored)
		ck_assert_uint_ge(r.seen[0].stored + 1, r.count);
	else
		ck_assert_uint_eq(r.seen[0].stored, 0);
}
END_TEST

/* --- what is kept, and who needs it */

#define ROLLOUT                                                                                    \
	NET "for episode in range(9):\n    logs = []\n    for t in range(50):\n"                   \
	    "        p = net(torch.randn(1, 4)).log_softmax(1)\n        logs.append(p[0, 0])\n"

static const struct {
	struct watched watched;
	bool needed;
} kept[] = {
        {{ROLLOUT "    loss = torch.stack(logs).sum()\n    opt.zero_grad()\n    loss.backward()\n"
                  "    opt.step()\n",
          "logs.append(p[0, 0])"},
         true},
        {{ROLLOUT "    best = torch.stack(logs).max().detach()\n", "logs.append(p[0, 0])"}, false},
        {{NET "def play():\n    logs = []\n    for t in range(50):\n"
              "        logs.append(net(torch.randn(1, 4)))\n    return logs\n",
          "logs.append(net(torch.randn(1, 4)))"},
         true},
        {{NET "def play():\n    logs = []\n    for t in range(50):\n"
              "        logs.append(net(torch.randn(1, 4)))\n    return len(logs)\n",
          "logs.append(net(torch.randn(1, 4)))"},
         false},
        /* who is given them is known: that is for the analysis to judge */
        {{NET "def play():\n    logs = []\n    for t in range(50):\n"
              "        logs.append(net(torch.randn(1, 4)))\n    return logs\n"
              "def show():\n    print(len(play()))\n",
          "logs.append(net(torch.randn(1, 4)))"},
         false},
        /* it ends before it is measured for long enough */
        {{NET "def play():\n    logs = []\n    for t in range(7):\n"
              "        logs.append(net(torch.randn(1, 4)))\n    return logs\n",
          "logs.append(net(torch.randn(1, 4)))"},
         true},
};

START_TEST(a_backward_behind_the_loop_needs_what_it_keeps)
{
	struct replay_result r = run_watched(&kept[_i].watched, false);

	ck_assert_int_eq(r.nodes.kind, REPLAY_LINEAR);
	ck_assert_int_eq(r.needed, kept[_i].needed);
	ck_assert_ptr_null(r.limit);
	ck_assert_ptr_null(r.error);
}
END_TEST

/* Summed by one function for two callers, of whom one only looks. */
#define SUMMED                                                                                     \
	NET "seen = []\ndef total(sign):\n    sum_of = 0\n    if sign > 0:\n"                      \
	    "        for i in range(30):\n            loss = net(torch.randn(8, "                  \
	    "4)).pow(2).sum()\n"                                                                   \
	    "            sum_of += loss\n            seen.append(loss.exp())\n    else:\n"         \
	    "        for i in range(30):\n            sum_of += net(torch.randn(8, 4)).sum()\n"    \
	    "    return sum_of\nfor i in range(2):\n    print(float(total(1)))\n"                  \
	    "for i in range(3):\n    opt.zero_grad()\n    total(SIGN).backward()\n    "            \
	    "opt.step()\n"

static const struct {
	struct watched watched;
	int sign; /* with which the second one calls */
	bool needed;
} summed[] = {
        {{SUMMED, "sum_of += loss"}, 1, true},
        {{SUMMED, "seen.append(loss.exp())"}, 1, false},
        {{SUMMED, "sum_of += loss"}, -1, false},
};

START_TEST(another_caller_may_need_the_sum)
{
	const char *program = summed[_i].watched.program;
	char *text = arena_text(&arena, program, strlen(program));
	struct watched w = {text, summed[_i].watched.place};
	struct replay_result r;

	memcpy(strstr(text, "SIGN"), summed[_i].sign > 0 ? " 1  " : " -1 ", 4);
	r = run_watched(&w, false);
	ck_assert_int_eq(r.nodes.kind, REPLAY_LINEAR);
	ck_assert(!r.needed);
	ck_assert_int_eq(r.seen[0].needed, summed[_i].needed);
}
END_TEST

/* --- what raises is stood in for */

#define RECURRENT "import torch\nfrom torch import nn\nrnn, h = nn.GRU(4, 4), None\n"

static const struct watched broken[] = {
        /* the script stops long before */
        {"table = {}\nprint(table['size'])\n" NET
         "total = 0\nfor i in range(20):\n    loss = net(torch.randn(8, 4)).sum()\n"
         "    loss.backward()\n    total += loss\n",
         "total += loss"},
        /* in every step */
        {NET "total = 0\nfor i in range(20):\n    size = [].pop()\n"
             "    loss = net(torch.randn(8, 4)).sum()\n    loss.backward()\n"
             "    total += loss * size\n",
         "total += loss * size"},
        /* an op that its operands do not fit */
        {NET "total = 0\nfor i in range(20):\n    loss = net(torch.randn(8, 5)).sum()\n"
             "    loss.backward()\n    total += loss\n",
         "total += loss"},
        /* nobody runs the loop, and a default keeps it empty */
        {NET "def run(text=''):\n    total = 0\n    for c in text:\n"
             "        loss = net(torch.randn(8, 4)).sum()\n        loss.backward()\n"
             "        total += loss\n    return total\n",
         "total += loss"},
        /* another loop that never ends stands before it */
        {NET "total = 0\nwhile True:\n    if net.weight.shape[0] > 5:\n        break\n"
             "for i in range(20):\n    loss = net(torch.randn(8, 4)).sum()\n"
             "    loss.backward()\n    total += loss\n",
         "total += loss"},
        /* it goes away */
        {"import sys\n" NET "if not sys.argv[1:]:\n    sys.exit(2)\n"
         "total = 0\nfor i in range(20):\n    loss = net(torch.randn(8, 4)).sum()\n"
         "    loss.backward()\n    total += loss\n",
         "total += loss"},
        /* a library's function raises, not an op: it has the parameters' graph */
        {RECURRENT "for i in range(20):\n    out, h = rnn(torch.randn(1, 8, 5), h)\n",
         "rnn(torch.randn(1, 8, 5), h)"},
        /* beyond the end of what there is */
        {NET "x, h = torch.randn(2, 4), torch.zeros(2)\ndef run(text):\n    h = torch.zeros(2)\n"
             "    for i in range(len(text)):\n        h = net(x[i]) + h\nrun('ab')\n",
         "net(x[i]) + h"},
        /* a number that is not known does not leave the loop */
        {"table = {}\nprint(table['size'])\n" NET
         "total = 0\nfor i in range(20):\n    total += net(torch.randn(8, 4)).sum()\n"
         "    if torch.randn(1) > -9:\n        break\n",
         "total += net(torch.randn(8, 4)).sum()"},
        /* it is asked for an item of nothing */
        {NET "first = next(iter([]))\ntotal = 0\nfor i in range(20):\n"
             "    total += net(torch.randn(8, 4)).sum()\n",
         "total += net(torch.randn(8, 4)).sum()"},
        /* a tree of stand-ins has no leaves */
        {"import elsewhere\ndef walk(node):\n    return [walk(child) for child in node.children]\n"
         "def visit(node):\n    visit(node.left)\n    visit(node.right)\n"
         "walk(elsewhere.tree)\nvisit(elsewhere.tree)\n" NET
         "total = 0\nfor i in range(20):\n    total += net(torch.randn(8, 4)).sum()\n",
         "total += net(torch.randn(8, 4)).sum()"},
};

START_TEST(what_raises_is_stood_in_for)
{
	struct replay_result r = run_watched(&broken[_i], false);

	ck_assert_msg(r.count >= REPLAY_LEAST, "%u steps, %s, %s", r.count,
	              r.error ? r.error : "no error", r.limit ? r.limit : "no limit");
	ck_assert_int_eq(r.nodes.kind, REPLAY_LINEAR);
	ck_assert(!r.exact);
}
END_TEST

/* The same has no graph where the program has none. */
static const struct watched mended[] = {
        {RECURRENT "for i in range(20):\n    with torch.no_grad():\n"
                   "        out, h = rnn(torch.randn(1, 8, 5), h)\n",
         "rnn(torch.randn(1, 8, 5), h)"},
        {RECURRENT "for p in rnn.parameters():\n    p.requires_grad = False\n"
                   "for i in range(20):\n    out, h = rnn(torch.randn(1, 8, 5), h)\n",
         "rnn(torch.randn(1, 8, 5), h)"},
        {RECURRENT "for i in range(20):\n    out, h = rnn(torch.randn(1, 8, 5), h)\n"
                   "    h = h.detach()\n",
         "rnn(torch.randn(1, 8, 5), h)"},
};

START_TEST(what_is_stood_in_for_has_a_graph_only_where_there_is_one)
{
	struct replay_result r = run_watched(&mended[_i], false);

	ck_assert_uint_ge(r.count, REPLAY_LEAST);
	ck_assert_int_le(r.nodes.kind, REPLAY_BOUNDED);
	ck_assert(!r.exact);
}
END_TEST

START_TEST(who_gives_items_ends_on_purpose)
{
	const struct watched w = {"table = {}\nprint(table['size'])\n" NET
	                          "class Three:\n    def __init__(self):\n"
	                          "        self.at = iter([1, 2, 3])\n    def __iter__(self):\n"
	                          "        return self\n    def __next__(self):\n"
	                          "        return next(self.at)\n"
	                          "print('three', [i for i in Three()])\n"
	                          "for i in range(20):\n    net(torch.randn(8, 4))\n",
	                          "net(torch.randn(8, 4))"};
	struct replay_result r = run_watched(&w, false);

	ck_assert_msg(strstr(r.output, "three [1, 2, 3]\n") != NULL, "%s", r.output);
}
END_TEST

START_TEST(what_is_caught_is_not)
{
	const struct watched w = {NET "total = 0\nfor i in range(3):\n    try:\n"
	                              "        size = [].pop()\n    except IndexError:\n"
	                              "        size = 2\n    total += size\nprint(total)\n",
	                          "total += size"};
	struct replay_result r = run_watched(&w, false);

	ck_assert_str_eq(r.output, "6\n");
}
END_TEST

/* Whether 'got' is printed in every step. */
static const struct watched handled[] = {
        /* what nobody handles goes on through a with, and is healed where it is raised */
        {"import torch\ndef run(loader):\n    for x in loader:\n        with torch.no_grad():\n"
         "            size = [].pop()\n            print('got')\n",
         "print('got')"},
        /* a handler for something else does not take it */
        {"def run(loader):\n    for x in loader:\n        try:\n            size = [].pop()\n"
         "        except KeyError:\n            print('no')\n        except IndexError:\n"
         "            print('got')\n",
         "print('got')"},
        /* a key that nothing is known of may be the one that is asked for */
        {"def run(loader):\n    for x in loader:\n        batch = {k: v.cuda() for k, v in "
         "x.items()}\n"
         "        if batch['size'] is not None:\n            print('got')\n",
         "print('got')"},
        /* what other code would have set up */
        {"class Run:\n    rate = None\n    def run(self, loader):\n        for x in loader:\n"
         "            self.rate[:] = 1\n            print('got')\n",
         "print('got')"},
};

START_TEST(exceptions_go_where_they_are_handled)
{
	struct replay_result r = run_watched(&handled[_i], false);

	ck_assert_uint_ge(r.count, REPLAY_LEAST);
	ck_assert_msg(r.watched[0] == r.count, "%u of %u", r.watched[0], r.count);
	ck_assert_ptr_null(strstr(r.output, "no"));
}
END_TEST

/* --- a curve that is settled */

START_TEST(the_same_growth_is_settled)
{
	const struct watched same = {NET "total = 0\nfor i in range(40):\n"
	                                 "    total += net(torch.randn(8, 4)).sum()\n",
	                             "total += net(torch.randn(8, 4)).sum()"};
	const struct watched late = {NET "total = 0\nfor i in range(40):\n    if i > 13:\n"
	                                 "        total += net(torch.randn(8, 4)).sum()\n",
	                             "total += net(torch.randn(8, 4)).sum()"};

	ck_assert_uint_eq(run_watched(&same, false).count, 12);
	ck_assert_uint_eq(run_watched(&late, false).count, 16);
}
END_TEST

Suite *replay_places_suite(void);

Suite *replay_places_suite(void)
{
	Suite *suite = suite_create("replay_places");
	TCase *tests = tcase_create("places");

	tcase_add_checked_fixture(tests, enter, leave);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, graphs_that_no_backward_uses_are_seen, 0,
	                    (int)(sizeof(recorded) / sizeof(recorded[0])));
	tcase_add_test(tests, what_is_unpacked_of_a_call_may_be_known_to_have_its_graph);
	tcase_add_test(tests, what_is_retained_is_used_or_not);
	tcase_add_loop_test(tests, a_place_has_its_share_of_what_grows, 0,
	                    sizeof(shares) / sizeof(shares[0]));
	tcase_add_loop_test(tests, what_no_loop_is_around_runs_again, 0,
	                    (int)(sizeof(alone) / sizeof(alone[0])));
	tcase_add_loop_test(tests, functions_of_autograd_are_applied, 0,
	                    (int)(sizeof(functions) / sizeof(functions[0])));
	tcase_add_loop_test(tests, a_backward_behind_the_loop_needs_what_it_keeps, 0,
	                    (int)(sizeof(kept) / sizeof(kept[0])));
	tcase_add_loop_test(tests, another_caller_may_need_the_sum, 0,
	                    (int)(sizeof(summed) / sizeof(summed[0])));
	tcase_add_loop_test(tests, what_raises_is_stood_in_for, 0,
	                    (int)(sizeof(broken) / sizeof(broken[0])));
	tcase_add_loop_test(tests, what_is_stood_in_for_has_a_graph_only_where_there_is_one, 0,
	                    (int)(sizeof(mended) / sizeof(mended[0])));
	tcase_add_test(tests, who_gives_items_ends_on_purpose);
	tcase_add_test(tests, what_is_caught_is_not);
	tcase_add_loop_test(tests, exceptions_go_where_they_are_handled, 0,
	                    (int)(sizeof(handled) / sizeof(handled[0])));
	tcase_add_test(tests, the_same_growth_is_settled);
	suite_add_tcase(suite, tests);
	return suite;
}
