/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The edge windows of a recording, for the model (analysis/edge.c) and for whoever asks whether a CPU was held at some
 * time. Between the timeline and the blocks.
 */
#ifndef KJOULE_WINDOWS_H
#define KJOULE_WINDOWS_H

#include "edge.h"
#include "timeline.h"

/* Those of the CPUs that share a counter, by time. */
struct windows_scope {
	uint32_t scope, domain;
	size_t n;
	struct edge_window *windows;
};

struct windows {
	size_t n;
	struct windows_scope *scopes;
};

/** windows_new() - Return: 0 or -ENOMEM; none is no error */
int windows_new(const struct timeline *tl, struct windows *w);
void windows_free(struct windows *w);
/** windows_of() - those that a CPU took part in, NULL if it did not */
const struct windows_scope *windows_of(const struct windows *w, const struct timeline_cpu *cpu);
/**
 * windows_held() - was the CPU held at this time?
 * @at:		0 at first; for times that only grow
 */
bool windows_held(const struct windows_scope *s, uint64_t time_ns, size_t *at);

#endif /* KJOULE_WINDOWS_H */
