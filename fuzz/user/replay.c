// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a fuzz target on the files and folders named, without libFuzzer: for regressions
 * (tests/test_fuzz.c) and to measure what a corpus covers. One of these a target.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fuzz/user/target.h"

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	long len = -1;

	if (f && !fseek(f, 0, SEEK_END))
		len = ftell(f);
	if (len >= 0 && !fseek(f, 0, SEEK_SET))
		/* of that very size, so that tools see every overrun */
		data = malloc(len ? len : 1);
	if (!data || fread(data, 1, len, f) != (size_t)len) {
		perror(path);
		if (f)
			fclose(f);
		free(data);
		return 1;
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, len);
	free(data);
	return 0;
}

static int run(const char *path)
{
	struct dirent **list;
	char name[4096];
	struct stat st;
	int n, ret = 0;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return run_file(path);
	n = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, list[i]->d_name);
		if (list[i]->d_name[0] != '.')
			ret |= run_file(name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return ret;
}

int main(int argc, char **argv)
{
	int ret = 0;

	for (int i = 1; i < argc; i++)
		ret |= run(argv[i]);
	return ret;
}
