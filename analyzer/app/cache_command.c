/* `graphlint cache clean` */

#include <errno.h>
#include <string.h>

#include "analyzer/app/app.h"
#include "analyzer/engine/cache_clean.h"

int app_cache(struct app *app)
{
	const text_list *operands = &app->line.operands;
	const char *folder;
	struct cache_cleaned cleaned;

	if (operands->count != 1 || strcmp(operands->at[0], "clean") != 0)
		return app_fail("`graphlint cache clean` is what there is");
	app->line.operands.count = 0;
	if (!app_load_settings(app))
		return EXIT_TROUBLE;
	folder = app_cache_folder(app);
	if (!cache_clean(folder, &cleaned))
		return app_fail("%s: %s", folder, cleaned.problem);
	printf("%s: %llu file%s removed\n", folder, (unsigned long long)cleaned.files,
	       cleaned.files == 1 ? "" : "s");
	return EXIT_CLEAN;
}
