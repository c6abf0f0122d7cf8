// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See picture.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "output/picture.h"
#include "output/plot.h"

enum { DATA, IMAGE };

int picture_open(struct picture *p, const char *path, bool force, struct kjoule_error *err)
{
	char *data_path = plot_data_path(path);

	*p = (struct picture){ .path = path,
			       .data_path = PLOT_DATA,
			       .files = { { .fd = -1, .folder = -1 },
					  { .fd = -1, .folder = -1 } } };
	p->ret = data_path ? kjoule_output_file_open(&p->files[DATA], AT_FDCWD, data_path,
						     force ? 0 : KJOULE_OUTPUT_KEEP, err) :
		 kjoule_fail(err, ENOMEM, "no memory");
	free(data_path);
	if (!p->ret)
		p->ret = kjoule_output_file_open(&p->files[IMAGE], AT_FDCWD, path, 0, err);
	if (!p->ret)
		p->data = p->files[DATA].stream;
	return p->ret;
}

int picture_check(const char *path, bool force, struct kjoule_error *err)
{
	char *data_path = plot_data_path(path);
	int ret = data_path ?
			  kjoule_output_file_check(data_path, force ? 0 : KJOULE_OUTPUT_KEEP, err) :
			  kjoule_fail(err, ENOMEM, "no memory");

	free(data_path);
	return ret ? ret : kjoule_output_file_check(path, 0, err);
}

/* The data are there even if nothing can be drawn of them. */
static int picture_commit_data(struct picture *p, struct kjoule_error *err)
{
	if (!p->ret)
		p->ret = kjoule_output_file_commit(&p->files[DATA], err);
	p->data = NULL;
	return p->ret;
}

int picture_script(struct picture *p, struct kjoule_error *err)
{
	if (picture_commit_data(p, err))
		return p->ret;
	p->script = open_memstream(&p->text, &p->len);
	if (!p->script)
		p->ret = kjoule_fail(err, ENOMEM, "no memory");
	return p->ret;
}

static void picture_draw_image(struct picture *p, struct kjoule_error *err)
{
	char why[256];

	p->ret =
		plot_draw(p->text, p->len, p->files[IMAGE].fd, p->files[DATA].fd, why, sizeof(why));
	if (p->ret == -ENOENT)
		kjoule_fail(
			err, ENOENT,
			"%s: there is no gnuplot to draw it; install gnuplot-nox; the data are in %s",
			p->path, p->files[DATA].path);
	else if (p->ret)
		kjoule_fail(err, -p->ret, "%s: gnuplot failed: %s; the data are in %s", p->path,
			    p->ret == -EIO ? why : strerror(-p->ret), p->files[DATA].path);
	else
		p->ret = kjoule_output_file_commit(&p->files[IMAGE], err);
}

int picture_close(struct picture *p, struct kjoule_error *err)
{
	if (p->data)
		picture_commit_data(p, err);
	if (p->script && fclose(p->script) && !p->ret)
		p->ret = kjoule_fail(err, ENOMEM, "no memory");
	if (p->script && !p->ret)
		picture_draw_image(p, err);
	for (size_t i = 0; i < 2; i++) {
		int ret = kjoule_output_file_close(&p->files[i], p->ret ? NULL : err);

		p->ret = p->ret ? p->ret : ret;
	}
	free(p->text);
	return p->ret;
}
