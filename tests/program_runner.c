#include "tests/program.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/text.h"

const char program_leaking[] = "import torch\n"
                               "from torch import nn\n"
                               "\n"
                               "model = nn.Linear(10, 1)\n"
                               "opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
                               "total = 0\n"
                               "history = []\n"
                               "for step in range(100):\n"
                               "    loss = model(torch.randn(8, 10)).mean()\n"
                               "    opt.zero_grad()\n"
                               "    loss.backward()\n"
                               "    opt.step()\n"
                               "    total += loss\n"
                               "    history.append(loss)\n";

enum { MOST_ARGUMENTS = 64 };

static void split(struct arena *arena, const char *line, char **arguments)
{
	int count = 0;

	arguments[count++] = arena_text(arena, "graphlint", 9);
	for (;;) {
		struct text word = {.arena = arena};

		line += strspn(line, " ");
		if (!*line)
			break;
		while (*line && *line != ' ') {
			size_t length = *line == '\'' ? strcspn(++line, "'") : strcspn(line, " '");

			text_add(&word, line, length);
			line += length;
			line += *line == '\'';
		}
		ck_assert_int_lt(count, MOST_ARGUMENTS - 1);
		arguments[count++] = arena_text(arena, text_chars(&word), word.length);
	}
	arguments[count] = NULL;
}

static int temporary(void)
{
	char name[] = "/tmp/graphlint-test-XXXXXX";
	int file = mkstemp(name);

	ck_assert_int_ge(file, 0);
	unlink(name);
	return file;
}

static char *contents(struct arena *arena, int file)
{
	off_t length = lseek(file, 0, SEEK_END);
	char *bytes;

	ck_assert_int_ge(length, 0);
	bytes = arena_alloc(arena, (size_t)length + 1, 1);
	ck_assert_int_eq(pread(file, bytes, (size_t)length, 0), length);
	close(file);
	return bytes;
}

static int input_file(const char *input)
{
	int file = temporary();

	if (input)
		ck_assert_int_eq(write(file, input, strlen(input)), (ssize_t)strlen(input));
	lseek(file, 0, SEEK_SET);
	return file;
}

struct program_run program_run(struct arena *arena, const char *input, const char *line)
{
	char *arguments[MOST_ARGUMENTS];
	struct program_run run;
	int in = input_file(input), out = temporary(), err = temporary(), status;
	pid_t child;

	split(arena, line, arguments);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		dup2(in, 0);
		dup2(out, 1);
		dup2(err, 2);
		execv(GRAPHLINT_PROGRAM, arguments);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	close(in);
	run.out = contents(arena, out);
	run.err = contents(arena, err);
	run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return run;
}

const char *program_difference(struct arena *arena, const char *one, const char *other)
{
	enum { SHOWN = 600 };
	struct text out = {.arena = arena};
	size_t same = 0;

	if (!strcmp(one, other))
		return NULL;
	while (one[same] && one[same] == other[same])
		same++;
	same -= same < SHOWN / 2 ? same : SHOWN / 2;
	text_print(&out, "%.*s\n...\nnot\n%.*s", SHOWN, one + same, SHOWN, other + same);
	return text_chars(&out);
}
