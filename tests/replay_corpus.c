/* Runs a fuzz target over stored inputs, without libFuzzer: every file of the
 * folders that are named, those in folders below included. */

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replayed;

static int replay(const char *path, const struct stat *status, int type, struct FTW *place)
{
	size_t size = (size_t)status->st_size;
	uint8_t *data;
	FILE *file;

	(void)place;
	if (type != FTW_F || !S_ISREG(status->st_mode) || !(file = fopen(path, "rb")))
		return 0;
	data = malloc(size + 1);
	size = data ? fread(data, 1, size, file) : 0;
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	replayed++;
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		nftw(argv[i], replay, 16, FTW_PHYS);
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	printf("%u inputs replayed\n", replayed);
	return EXIT_SUCCESS;
}
