// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See plot.h. gnuplot gets its script on standard input, so that no shell reads a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "output/output.h"
#include "output/plot.h"

/* The descriptor of PLOT_DATA. */
#define PLOT_DATA_FD	3

/* Which the colour-blind tell apart as well: Okabe and Ito, Color Universal Design, but yellow. */
static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7",
				      "#e69f00", "#56b4e9", "#000000" };

#define PLOT_COLOURS	(sizeof(colours) / sizeof(colours[0]))

const char *plot_kind(const char *path)
{
	size_t len = strlen(path);

	if (len > 4 && !strcmp(path + len - 4, ".svg"))
		return "svg";
	return len > 4 && !strcmp(path + len - 4, ".png") ? "png" : NULL;
}

char *plot_data_path(const char *path)
{
	size_t len = strlen(path);
	char *data;

	if (asprintf(&data, "%.*s.csv", (int)(plot_kind(path) ? len - 4 : len), path) < 0)
		return NULL;
	return data;
}

void plot_string(FILE *script, const char *text)
{
	char *clean = output_clean(text);

	fputc('\'', script);
	for (const char *p = clean ? clean : "?"; *p; p++) {
		if (*p == '\'')
			fputc('\'', script);
		/* which would end the line of the script */
		fputc((unsigned char)*p < ' ' ? '?' : *p, script);
	}
	fputc('\'', script);
	free(clean);
}

void plot_begin(FILE *script, const char *path, unsigned int width, unsigned int height)
{
	const char *kind = plot_kind(path);

	fprintf(script, "set terminal %s noenhanced size %u,%u background rgb 'white'\n",
		!strcmp(kind, "png") ? "pngcairo" : "svg", width, height);
	fputs("set encoding utf8\nset datafile separator ','\nset datafile missing NaN\n", script);
	for (size_t i = 0; i < PLOT_COLOURS; i++)
		fprintf(script, "set linetype %zu lc rgb '%s'\n", i + 1, colours[i]);
	fprintf(script, "set linetype cycle %zu\n", PLOT_COLOURS);
}

/* Files that the other side reads and writes: without a name, and never full as a pipe is. */
static int plot_make_scratch_file(const char *text, size_t len)
{
	char name[] = "/tmp/kjoule-plot-XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	unlink(name);
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int ret = n < 0 ? -errno : -EIO;

			close(fd);
			return ret;
		}
		text += n;
		len -= n;
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* gnuplot writes the picture to its standard output, as no script says otherwise. */
static int plot_run_gnuplot(int in, int picture, int data, int err)
{
	char *argv[] = { (char *)"gnuplot", (char *)"-", NULL };
	posix_spawn_file_actions_t actions;
	int ret, status;
	pid_t pid;

	ret = posix_spawn_file_actions_init(&actions);
	if (ret)
		return -ret;
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	if (picture >= 0)
		posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
	if (data >= 0)
		posix_spawn_file_actions_adddup2(&actions, data, PLOT_DATA_FD);
	/* what our caller has left open is none of gnuplot's */
	posix_spawn_file_actions_addclosefrom_np(&actions,
						 data >= 0 ? PLOT_DATA_FD + 1 : PLOT_DATA_FD);
	ret = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret)
		return -ret;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

int plot_draw(const char *script, size_t len, int picture, int data, char *why, size_t why_len)
{
	int in = plot_make_scratch_file(script, len),
	    out = in < 0 ? in : plot_make_scratch_file("", 0);
	int ret = out < 0 ? out : plot_run_gnuplot(in, picture, data, out);
	ssize_t n = 0;

	why[0] = '\0';
	if (ret == -EIO) {
		n = pread(out, why, why_len - 1, 0);
		why[n > 0 ? n : 0] = '\0';
		/* one line of it says it */
		memmove(why, why + strspn(why, " \n"), strlen(why + strspn(why, " \n")) + 1);
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return ret;
}
