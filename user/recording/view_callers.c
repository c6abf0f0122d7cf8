// SPDX-License-Identifier: GPL-2.0-or-later
/* Call chains: as recorded, and from stacks that are unwound here, once; see view.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "recording/view.h"

/* Frames of a stack at most; the module's chains have as many by default. */
#define FRAMES_MOST	127

/* Result of a stack. */
struct unwound {
	uint32_t pid;			/* TIMELINE_NO_TASK: of no sample */
	uint8_t how;			/* enum kjoule_unwound */
	uint16_t n;
	uint64_t time_ns;
	size_t first;			/* in the pool */
};

struct cpu_stacks {
	uint32_t cpu;
	uint64_t n;
	struct unwound *list;		/* by number */
};

struct view_stacks {
	struct view *view;
	struct kjoule_unwinder *unwinder;
	size_t n_cpus;
	struct cpu_stacks *cpus;
	uint64_t *pool;
	size_t n_pool, room;
};

bool view_has_callers(const struct view *v)
{
	for (size_t i = 0; i < v->tl.n_cpus; i++)
		if (v->tl.cpus[i].n_callers)
			return true;
	return false;
}

static uint64_t view_stack_number(const struct kjoule_stack *in_file)
{
	uint64_t number;

	memcpy(&number, (const char *)in_file + sizeof(*in_file), sizeof(number));
	return number;
}

static struct unwound *view_stacks_find(const struct view_stacks *s, uint32_t cpu, uint64_t number)
{
	for (size_t i = 0; s && i < s->n_cpus; i++)
		if (s->cpus[i].cpu == cpu)
			return number < s->cpus[i].n ? &s->cpus[i].list[number] : NULL;
	return NULL;
}

/* The sample of each stack. */
static int view_stacks_list(struct view *v, struct view_stacks *s)
{
	s->cpus = calloc(v->rec.n_streams + 1, sizeof(*s->cpus));
	if (!s->cpus)
		return -ENOMEM;
	for (size_t i = 0; i < v->rec.n_streams; i++) {
		struct cpu_stacks *c = &s->cpus[s->n_cpus++];

		c->cpu = v->rec.streams[i].cpu;
		c->n = v->rec.streams[i].stacks;
		c->list = calloc(c->n + 1, sizeof(*c->list));
		if (!c->list)
			return -ENOMEM;
		for (uint64_t k = 0; k < c->n; k++)
			c->list[k].pid = TIMELINE_NO_TASK;
	}
	for (size_t i = 0; i < v->tl.n_cpus; i++) {
		const struct timeline_cpu *cpu = &v->tl.cpus[i];

		for (size_t k = 0; k < cpu->n_samples; k++) {
			const struct timeline_sample *sample = &cpu->samples[k];
			const struct kjoule_stack *in_file = sample->callers ?
				cpu->callers[sample->callers - 1].stack : NULL;
			struct unwound *u = in_file && in_file->rec.flags & KJOULE_STACK_IN_FILE ?
					    view_stacks_find(s, cpu->cpu,
							     view_stack_number(in_file)) :
					    NULL;

			if (!u)
				continue;
			u->pid = sample->tgid;
			u->time_ns = view_time(v, sample->tick, sample->late_ns);
		}
	}
	return 0;
}

static int view_stacks_unwind_one(void *arg, uint32_t cpu, uint64_t number,
				  const struct kjoule_stack *stack)
{
	struct view_stacks *s = arg;
	struct unwound *u = view_stacks_find(s, cpu, number);
	size_t n = FRAMES_MOST;

	if (!u || u->pid == TIMELINE_NO_TASK)
		return 0;
	if (s->room - s->n_pool < n) {
		size_t room = s->room ? 2 * s->room : 1 << 16;
		uint64_t *p = realloc(s->pool, room * sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->pool = p;
		s->room = room;
	}
	u->how = kjoule_unwind(s->unwinder, u->pid, u->time_ns, stack, s->pool + s->n_pool, &n);
	u->first = s->n_pool;
	u->n = n;
	s->n_pool += n;
	s->view->unwound[u->how]++;
	return 0;
}

static bool view_kernel_is_running(const struct view *v)
{
	struct kjoule_meta now = { 0 };
	bool same = !kjoule_meta_gather(&now) && !strcmp(now.kernel, v->rec.meta.kernel);

	kjoule_meta_free(&now);
	return same;
}

int view_unwind(struct view *v)
{
	struct view_stacks *s;
	uint64_t n = 0;
	int ret;

	for (size_t i = 0; i < v->rec.n_streams; i++)
		n += v->rec.streams[i].stacks;
	if (!n || v->stacks)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	v->stacks = s;
	s->view = v;
	s->unwinder = kjoule_unwinder_new(v->maps, v->rec.build_ids, view_kernel_is_running(v));
	if (s->unwinder && view_vdso(v))
		kjoule_unwinder_vdso(s->unwinder, v->vdso_fd);
	ret = s->unwinder ? view_stacks_list(v, s) : -ENOMEM;
	if (!ret)
		ret = kjoule_recording_stacks(&v->rec, view_stacks_unwind_one, s);
	kjoule_unwinder_free(s->unwinder);
	s->unwinder = NULL;
	return ret;
}

void view_callers_free(struct view *v)
{
	for (size_t i = 0; v->stacks && i < v->stacks->n_cpus; i++)
		free(v->stacks->cpus[i].list);
	if (v->stacks) {
		free(v->stacks->cpus);
		free(v->stacks->pool);
	}
	free(v->stacks);
	v->stacks = NULL;
}

static bool view_function_is_same(const struct view_place *a, const struct view_place *b)
{
	return a->symbol == b->symbol && a->object == b->object;
}

/*
 * The precise address may be of the instruction before the one of the registers. If that one called
 * or returned, the registers are in another function: the callee, whose caller is then the sampled
 * function itself, or the caller, which then is the first one.
 */
static size_t view_callers_mend_first(struct view *v, const struct timeline_sample *s,
				      uint64_t where, const uint64_t **ip, size_t n,
				      struct view_frame *frames)
{
	uint64_t time_ns = view_time(v, s->tick, s->late_ns);
	struct view_place sampled, there, first;

	if (!(s->flags & KJOULE_SAMPLE_PRECISE) || where == s->ip)
		return 0;
	view_resolve(v, s, &sampled);
	view_resolve_at(v, s->tgid, time_ns, where, false, &there);
	if (view_function_is_same(&sampled, &there))
		return 0;
	if (n) {
		view_resolve_at(v, s->tgid, time_ns, **ip - 1, false, &first);
		if (view_function_is_same(&sampled, &first)) {
			++*ip;
			return 0;
		}
	}
	frames[0] = (struct view_frame){ where, where, false };
	return 1;
}

/* One by one, as far as there is room. */
static size_t view_callers_add(struct view_frame *frames, size_t n, const uint64_t *ip,
			       size_t count, bool kernel)
{
	for (size_t i = 0; i < count && n < VIEW_FRAMES; i++)
		frames[n++] = (struct view_frame){ ip[i], ip[i] - 1, kernel };
	return n;
}

size_t view_callers(struct view *v, uint32_t cpu, const struct timeline_sample *s,
		    const struct timeline_callers *c, struct view_frame *frames, bool *cut)
{
	bool in_kernel = s->flags & KJOULE_SAMPLE_KERNEL;
	const struct kjoule_chain *chain = c->chain;
	const struct unwound *u = NULL;
	const uint64_t *user = NULL;
	size_t n = 0, n_user = 0, before;

	*cut = false;
	if (c->stack && (c->stack->rec.flags & KJOULE_STACK_IN_FILE))
		u = view_stacks_find(v->stacks, cpu, view_stack_number(c->stack));
	if (chain) {
		*cut = chain->rec.flags & KJOULE_CHAIN_KERNEL_CUT;
		n = view_callers_add(frames, n, kjoule_chain_ips(chain), chain->kernel, true);
		user = kjoule_chain_ips(chain) + chain->kernel;
		n_user = chain->user;
	}
	if (u && u->n) {
		user = v->stacks->pool + u->first;
		n_user = u->n;
		*cut |= u->how != KJOULE_UNWOUND_WHOLE;
	} else if (c->stack && c->stack->rec.flags & KJOULE_STACK_WITHHELD) {
		*cut = true;
	} else if (chain) {
		*cut |= chain->rec.flags & KJOULE_CHAIN_USER_CUT;
	}
	if (in_kernel && n_user && n < VIEW_FRAMES) {
		/* where user space was interrupted: no call before it */
		frames[n++] = (struct view_frame){ *user, *user, false };
		user++;
		n_user--;
	} else if (!in_kernel && u && u->n) {
		const uint64_t *first = user + 1;

		n += view_callers_mend_first(v, s, *user, &first, n_user - 1, frames + n);
		before = first - user;
		user = first;
		n_user -= before;
	}
	return view_callers_add(frames, n, user, n_user, false);
}
