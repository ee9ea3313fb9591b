#include "tests/random_tree.h"

#include <unistd.h>

#include "tests/temp_tree.h"

static const char *const paths[] = {
        "train.py",
        "alone.py",
        "plain.py",
        "tools/meter.py",
        "tools/__init__.py",
        "tools/more.py",
        "tools/deep/__init__.py",
        "tools/deep/meter.py",
        "meter.py",
        "other/run.py",
        "other/__init__.py",
};

#define METER                                                                                      \
	"class Meter:\n    def __init__(self):\n        self.values = []\n\n"                      \
	"    def add(self, value):\n        self.values.append(value)\n"
#define GRAPH "w = torch.ones(3, requires_grad=True)\n"
#define LOOP  "for i in range(9):\n"

static const char *const texts[] = {
        METER,
        METER "\n\ndef keep(kept, value):\n    kept.append(value)\n",
        METER "import torch\n" GRAPH "m = Meter()\n" LOOP "    m.add(w * 2)\n",
        "import torch\nfrom torch import nn\nfrom tools.meter import Meter\n"
        "model = nn.Linear(10, 1)\nmeter = Meter()\n" LOOP
        "    loss = model(torch.randn(8, 10)).mean()\n    loss.backward()\n    meter.add(loss)\n",
        "import torch\n" GRAPH "total = 0\n" LOOP "    total += (w * 2).sum()\n",
        "",
        "import torch\n",
        "from tools.meter import Meter\n",
        "from .meter import Meter\nimport torch\n",
        "from . import meter, more\n",
        "import tools\nimport torch\n" GRAPH "tools.meter.Meter().add(w)\n",
        "import tools.meter\nimport torch\n" GRAPH "m = tools.meter.Meter()\n" LOOP
        "    m.add(w * 2)\n",
        "import tools.deep.meter as deep\nimport torch\n" GRAPH "m = deep.Meter()\n" LOOP
        "    m.add(w * 2)\n",
        "from tools import deep, meter\nimport torch\n" GRAPH "kept = []\n" LOOP
        "    meter.keep(kept, w * 2)\n    deep.meter.keep(kept, w * 3)\n",
        "from meter import Meter\nimport torch\n" GRAPH "m = Meter()\n" LOOP "    m.add(w * 2)\n",
        "class Meter:\n    def add(self, value):\n        self.last = value\n",
        "import torch\n\n\ndef keep(kept, value):\n" LOOP
        "        kept.append(value * 2)  # noqa: GL101\n",
        "x = 1  # noqa: GL101\n",
        "def f(:\n",
};

uint32_t random_tree_next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

void random_tree_edit(uint32_t *state)
{
	const char *path = paths[random_tree_next(state) % (sizeof(paths) / sizeof(paths[0]))];
	const char *text = texts[random_tree_next(state) % (sizeof(texts) / sizeof(texts[0]))];

	if (random_tree_next(state) % 5 == 0)
		unlink(path);
	else
		temp_tree_add_text(path, text);
}
