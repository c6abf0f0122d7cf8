/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of a view, see view.h: its timeline where the samples are left in the file. Called by view.c.
 */
#ifndef KJOULE_VIEW_SAMPLES_H
#define KJOULE_VIEW_SAMPLES_H

#include "view.h"

/**
 * view_samples_load() - make the timeline, without its samples; before timeline_finish()
 * Return: 0; -ESTALE: the file is not what it was; or -errno
 */
int view_samples_load(struct view *v);

#endif /* KJOULE_VIEW_SAMPLES_H */
