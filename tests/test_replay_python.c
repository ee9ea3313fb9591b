#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/replay/replay.h"
#include "tests/folder.h"
#include "tests/replayed_runner.h"
#include "tests/suites.h"

/* fixtures/replay/python/NAME.py holds snippets, each after a line `# --- name`;
 * NAME.out what CPython prints for each (tools/record_python.py). What the replay
 * prints is the same, but for those of not_done.py, which must still differ. */

static const char mark[] = "# --- ", not_done[] = "not_done.py";

struct snippet {
	char *name, *body;
};

/* Cuts the next snippet off. */
static bool next_snippet(char **rest, struct snippet *s)
{
	char *at = *rest, *end;

	if (!at || strncmp(at, mark, strlen(mark)) != 0)
		return false;
	s->name = at + strlen(mark);
	end = strchr(s->name, '\n');
	ck_assert(end != NULL);
	*end = 0;
	s->body = end + 1;
	end = strncmp(s->body, mark, strlen(mark)) == 0 ? s->body : strstr(s->body, "\n# --- ");
	*rest = end && end != s->body ? end + 1 : end;
	if (end)
		*end = 0;
	return true;
}

static void compare(const char *file, const struct snippet *program, const char *want)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	struct replay_request request = {.arena = &arena, .names = names, .values = true};
	struct replay_result r = replayed(program->body, request);
	bool same;

	/* The last line's end was cut off with the next mark. */
	same = !r.error && strncmp(r.output, want, strlen(want)) == 0 &&
	       strlen(r.output + strlen(want)) <= 1;
	if (strcmp(file, not_done) == 0)
		ck_assert_msg(!same, "%s: %s is right now: move it", file, program->name);
	else
		ck_assert_msg(same, "%s: %s prints\n%s\nnot\n%s\n%s", file, program->name, r.output,
		              want, r.traceback ? r.traceback : "");
	intern_close(names);
	arena_release(&arena);
}

static struct dirent **files;
static int file_count;

static int is_program(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 3 && strcmp(entry->d_name + length - 3, ".py") == 0;
}

START_TEST(snippets_print_what_python_prints)
{
	const char *name = file_count > 0 ? files[_i]->d_name : "(none)";
	struct arena arena = {0};
	char output[300];
	char *programs = folder_read(&arena, GRAPHLINT_ROOT "/fixtures/replay/python", name),
	     *outputs;
	struct snippet program, want;
	uint32_t compared = 0;

	snprintf(output, sizeof(output), "%.*s.out", (int)strlen(name) - 3, name);
	outputs = folder_read(&arena, GRAPHLINT_ROOT "/fixtures/replay/python", output);
	while (next_snippet(&programs, &program)) {
		ck_assert(next_snippet(&outputs, &want));
		ck_assert_str_eq(program.name, want.name);
		compare(name, &program, want.body);
		compared++;
	}
	ck_assert_uint_ge(compared, 2);
	arena_release(&arena);
}
END_TEST

/* --- replayed code reaches nothing outside itself */

static const char *const reaching[] = {
        "open('made.txt', 'w').write('x')",
        "with open('made.txt', 'a') as f:\n    print('x', file=f)",
        "print(open('secret.txt').read())",
        "import os\nos.mkdir('made'); os.makedirs('made/b'); os.system('touch made.txt')",
        "import os\nos.remove('secret.txt'); os.rename('secret.txt', 'made.txt')",
        "import os\nprint(os.environ['SECRET'])\nprint(os.getenv('SECRET'))",
        "import os\nprint(os.listdir('.'), os.popen('cat secret.txt').read())",
        "import subprocess\nsubprocess.run(['touch', 'made.txt'])\n"
        "print(subprocess.check_output(['cat', 'secret.txt']))",
        "from pathlib import Path\nPath('made').mkdir()\nPath('made.txt').write_text('x')\n"
        "print(Path('secret.txt').read_text())",
        "import socket\ns = socket.socket()\ns.connect(('127.0.0.1', 9))\nprint(s)",
        "from urllib.request import urlopen\nprint(urlopen('file:secret.txt').read())",
        "import torch\ntorch.save(torch.ones(2), 'made.pt')\nprint(torch.load('secret.txt'))",
        "import numpy as np\nnp.save('made.npy', np.ones(3))\nprint(np.load('secret.txt'))",
        "import numpy as np\nnp.savetxt('made.txt', np.ones(3))\nprint(np.loadtxt('secret.txt'))",
        "import shutil\nshutil.copy('secret.txt', 'made.txt')\nshutil.rmtree('.')",
        "import tempfile\nwith tempfile.NamedTemporaryFile(dir='.', delete=False) as f:\n"
        "    f.write(b'x')",
        "__import__('os').system('touch made.txt')",
        "eval(\"open('made.txt', 'w')\")\nexec(\"open('made.txt', 'w').write('x')\")",
        "import pickle\npickle.dump([1], open('made.pkl', 'wb'))\n"
        "print(pickle.load(open('secret.txt', 'rb')))",
        "import json\njson.dump([1], open('made.json', 'w'))\nprint(json.load(open('secret.txt')))",
        "import logging\nlogging.basicConfig(filename='made.log')\nlogging.warning('x')\n"
        "logging.getLogger().addHandler(logging.FileHandler('made.log'))\nprint(open('made.log'))",
        "import importlib\nimportlib.import_module('os').system('touch made.txt')",
        "import sys\nsys.stdout = open('made.txt', 'w')\nprint('x')",
        "from torch.utils.tensorboard import SummaryWriter\nSummaryWriter('made').add_scalar('a', "
        "1, 2)",
        "import ctypes\nctypes.CDLL(None).system(b'touch made.txt')",
};
enum { REACHING = sizeof(reaching) / sizeof(reaching[0]) };

static int is_entry(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

START_TEST(nothing_outside_is_reached)
{
	char folder[] = "/tmp/graphlint-reach-XXXXXX", before[4096], secret[64];
	struct arena arena = {0};
	struct intern *names = intern_open();
	struct replay_request request = {.arena = &arena, .names = names, .values = true};
	struct replay_result r;
	struct dirent **entries;
	FILE *file;

	ck_assert(getcwd(before, sizeof(before)) && mkdtemp(folder) && chdir(folder) == 0);
	setenv("SECRET", "hidden-word", 1);
	file = fopen("secret.txt", "w");
	ck_assert(file && fputs("hidden-word", file) >= 0 && fclose(file) == 0);
	r = replayed(reaching[_i], request);
	ck_assert_msg(strstr(r.output, "hidden-word") == NULL, "%s reads", reaching[_i]);
	ck_assert_msg(r.error || r.stand_in_count, "%s: nothing is said to be a stand-in",
	              reaching[_i]);
	ck_assert_msg(!r.exact, "%s is said to be exact", reaching[_i]);
	ck_assert_msg(scandir(".", &entries, is_entry, alphasort) == 1, "%s makes files",
	              reaching[_i]);
	ck_assert_str_eq(entries[0]->d_name, "secret.txt");
	free(entries[0]);
	free(entries);
	file = fopen("secret.txt", "r");
	ck_assert(file && fgets(secret, sizeof(secret), file) && fclose(file) == 0);
	ck_assert_str_eq(secret, "hidden-word");
	ck_assert(remove("secret.txt") == 0 && chdir(before) == 0 && rmdir(folder) == 0);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

Suite *replay_python_suite(void)
{
	Suite *suite = suite_create("replay_python");
	TCase *snippets = tcase_create("snippets"), *reach = tcase_create("reach");

	tcase_set_timeout(snippets, 120);
	tcase_set_timeout(reach, 120);
	file_count =
	        scandir(GRAPHLINT_ROOT "/fixtures/replay/python", &files, is_program, alphasort);
	tcase_add_loop_test(snippets, snippets_print_what_python_prints, 0,
	                    file_count > 0 ? file_count : 1);
	tcase_add_loop_test(reach, nothing_outside_is_reached, 0, REACHING);
	suite_add_tcase(suite, snippets);
	suite_add_tcase(suite, reach);
	return suite;
}
