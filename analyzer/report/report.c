#include "analyzer/report/report.h"

#include <string.h>

static const struct report_format formats[] = {
#define FORMAT(name) {#name, report_##name},
#include "analyzer/report/formats.def"
#undef FORMAT
};

const struct report_format *report_format_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	}
	return NULL;
}
