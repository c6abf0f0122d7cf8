// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See picture.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "picture.h"
#include "plot.h"

int picture_open(struct picture *p, const char *path, struct kjoule_error *err)
{
	*p = (struct picture){ .path = path, .data_path = plot_data_path(path) };
	p->data = p->data_path ? fopen(p->data_path, "we") : NULL;
	if (!p->data)
		p->ret = kjoule_fail(err, p->data_path ? errno : ENOMEM, "%s: %s", p->data_path ? p->data_path : path,
				     p->data_path ? strerror(errno) : "no memory");
	return p->ret;
}

static int close_data(struct picture *p, struct kjoule_error *err)
{
	int bad = ferror(p->data);

	if (fclose(p->data) || bad)
		p->ret = kjoule_fail(err, EIO, "%s: writing: %s", p->data_path, strerror(errno));
	p->data = NULL;
	return p->ret;
}

int picture_script(struct picture *p, struct kjoule_error *err)
{
	if (close_data(p, err))
		return p->ret;
	p->script = open_memstream(&p->text, &p->len);
	if (!p->script)
		p->ret = kjoule_fail(err, ENOMEM, "no memory");
	return p->ret;
}

static void draw(struct picture *p, struct kjoule_error *err)
{
	char why[256];

	p->ret = plot_draw(p->text, p->len, why, sizeof(why));
	if (p->ret == -ENOENT)
		kjoule_fail(err, ENOENT, "%s: there is no gnuplot to draw it; install gnuplot-nox; the data are in %s", p->path,
			    p->data_path);
	else if (p->ret)
		kjoule_fail(err, -p->ret, "%s: gnuplot failed: %s; the data are in %s", p->path,
			    p->ret == -EIO ? why : strerror(-p->ret), p->data_path);
}

int picture_close(struct picture *p, struct kjoule_error *err)
{
	if (p->data)
		close_data(p, err);
	if (p->script && fclose(p->script) && !p->ret)
		p->ret = kjoule_fail(err, ENOMEM, "no memory");
	if (p->script && !p->ret)
		draw(p, err);
	free(p->text);
	free(p->data_path);
	return p->ret;
}
