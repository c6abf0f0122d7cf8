// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loops timed by the module (lib/control/transition_probe.h), interrupts off, and requests made by
 * cpufreq's own interfaces: by the driver's fast switch under the governor "kjoule", or by limits.
 * What it changes is given back by the module when its socket is closed, however that comes. See
 * latency.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "latency/latency.h"
#include "lib/control/sources.h"
#include "lib/control/transition_probe.h"

#define GOVERNOR	"kjoule"
#define PROMPT		"performance"

struct state {
	struct kjoule_ctl *ctl;
	struct kjoule_transition_probe probe;
};

/* Return: a descriptor of a policy's file, what it says in @text without its end; -errno */
static int kernel_open_policy_file(const struct latency *l, const char *name, char *text,
				   size_t len, struct kjoule_error *err)
{
	char path[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpufreq/policy%u/%s", KJOULE_SYSFS,
		 l->policy->number, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return kjoule_fail(err, errno, "%s: %s%s", path, strerror(errno),
				   errno == EACCES ?
				   "; governors are root's to change: run it with sudo" : "");
	n = read(fd, text, len - 1);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return fd;
}

/* The speed set for governor userspace is lost when it is left, and is set again. */
static int kernel_keep_speed(struct latency *l, struct state *s, struct kjoule_error *err)
{
	char text[64];
	int fd = kernel_open_policy_file(l, "scaling_setspeed", text, sizeof(text), err), ret = 0;

	if (fd < 0)
		return fd;
	if (text[0] >= '0' && text[0] <= '9')
		ret = kjoule_restore_add(s->ctl, fd, text, err);
	close(fd);
	return ret;
}

static int kernel_set_governor(struct latency *l, struct state *s, const char *governor,
			       struct kjoule_error *err)
{
	char text[64];
	int fd, ret;

	fd = kernel_open_policy_file(l, "scaling_governor", text, sizeof(text), err);
	if (fd < 0)
		return fd;
	/* what is noted last is written first: a governor before its speed */
	ret = kernel_keep_speed(l, s, err);
	if (!ret)
		ret = kjoule_restore_add(s->ctl, fd, text, err);
	if (!ret && write(fd, governor, strlen(governor)) < 0)
		ret = kjoule_fail(err, errno, "setting the governor of policy %u to \"%s\": %s",
				  l->policy->number, governor, strerror(errno));
	close(fd);
	return ret;
}

static int kernel_new_probe(struct latency *l, struct state *s, struct kjoule_error *err)
{
	const struct latency_options *opt = l->opt;
	uint32_t way = opt->way_given && opt->way == LATENCY_WAY_LIMITS ?
		       KJOULE_TRANSITION_WAY_LIMITS : KJOULE_TRANSITION_WAY_FAST;
	int ret = kjoule_transition_probe_new(s->ctl, opt->cpu, way, &s->probe, err);

	/* drivers that choose frequencies themselves take limits only */
	if (ret == -EOPNOTSUPP && !opt->way_given)
		ret = kjoule_transition_probe_new(s->ctl, opt->cpu, KJOULE_TRANSITION_WAY_LIMITS,
						  &s->probe, err);
	return ret;
}

static int kernel_close(struct latency *l, struct kjoule_error *err)
{
	struct state *s = l->state;
	int ret = 0;

	if (!s)
		return 0;
	if (s->ctl)
		ret = kjoule_restore_now(s->ctl, err);
	kjoule_ctl_close(s->ctl);
	free(s);
	l->state = NULL;
	return ret;
}

static int kernel_open(struct latency *l, struct kjoule_error *err)
{
	struct state *s = calloc(1, sizeof(*s));
	struct kjoule_error other;
	int ret;

	if (!s)
		return kjoule_fail(err, ENOMEM, "no memory");
	l->state = s;
	ret = kjoule_ctl_open(&s->ctl, err);
	if (!ret)
		ret = kernel_new_probe(l, s, err);
	if (!ret && s->probe.way == KJOULE_TRANSITION_WAY_FAST)
		ret = kernel_set_governor(l, s, GOVERNOR, err);
	/* others ask the driver when they come round to it, some at the next tick */
	if (!ret && s->probe.way == KJOULE_TRANSITION_WAY_LIMITS &&
	    strcmp(l->policy->governor, PROMPT))
		ret = kernel_set_governor(l, s, PROMPT, err);
	if (ret) {
		kernel_close(l, &other);
		return ret;
	}
	latency_keep_away(l);
	snprintf(l->way, sizeof(l->way), "%s", s->probe.way == KJOULE_TRANSITION_WAY_FAST ?
		 "the driver's fast switch, interrupts off" : "limits of freq QoS");
	return 0;
}

/* The loops that the probe has timed last. */
static int kernel_read_loops(struct state *s, const struct kjoule_transition_probe_result *r,
			     struct latency_loops *to, struct kjoule_error *err)
{
	struct kjoule_loop *loops;
	size_t n;
	int ret = kjoule_transition_probe_loops(s->ctl, &s->probe, &loops, &n, err);

	if (ret)
		return ret;
	*to = (struct latency_loops){ .list = calloc(n + 1, sizeof(*to->list)), .n = n,
				      .reference_khz = r->reference_khz, .asked_ns = r->asked_ns,
				      .request_ns = r->request_ns, .irqs_off_ns = r->irqs_off_ns,
				      .irqs_off_from_ns = r->irqs_off_from_ns, .cut = r->cut,
				      .done = r->outcome == KJOULE_TRANSITION_OUTCOME_DONE };
	snprintf(to->counter, sizeof(to->counter), "%s", r->counter);
	if (r->counter[0])
		to->counted = calloc(n + 1, sizeof(*to->counted));
	if (!to->list || (r->counter[0] && !to->counted)) {
		latency_loops_free(to);
		free(loops);
		return kjoule_fail(err, ENOMEM, "no memory");
	}
	for (size_t i = 0; i < n; i++) {
		to->list[i] = (struct transition_loop){ loops[i].start_ns, loops[i].loop_ns };
		if (to->counted)
			to->counted[i] =
				(struct latency_counted){ loops[i].cycles, loops[i].reference };
	}
	free(loops);
	return 0;
}

static int kernel_calibrate(struct latency *l, uint32_t adds, uint32_t khz, uint32_t loops,
			    uint64_t wait_ns, struct latency_loops *to, struct kjoule_error *err)
{
	struct state *s = l->state;
	struct kjoule_transition_probe_result r;
	int ret = kjoule_transition_probe_calibrate(s->ctl, &s->probe, adds, khz, loops, wait_ns,
						    l->opt->slice_ns, &r, err);

	return ret ? ret : kernel_read_loops(s, &r, to, err);
}

static int kernel_attempt(struct latency *l, const struct latency_ask *ask,
			  struct latency_loops *to, struct kjoule_error *err)
{
	const struct kjoule_transition_probe_try t = {
		.adds = ask->adds, .from_khz = ask->from_khz, .to_khz = ask->to_khz,
		.from_lo_ns = ask->from_lo_ns, .from_hi_ns = ask->from_hi_ns,
		.to_lo_ns = ask->to_lo_ns, .to_hi_ns = ask->to_hi_ns, .lead = ask->lead,
		.loops = ask->loops, .confirm = ask->confirm, .timeout_ns = ask->timeout_ns,
		.slice_ns = ask->slice_ns };
	struct state *s = l->state;
	struct kjoule_transition_probe_result r;
	int ret = kjoule_transition_probe_try(s->ctl, &s->probe, &t, &r, err);

	return ret ? ret : kernel_read_loops(s, &r, to, err);
}

const struct latency_engine latency_kernel = {
	.name = "kernel", .concurrent = true, .open = kernel_open, .calibrate = kernel_calibrate,
	.attempt = kernel_attempt, .close = kernel_close };
