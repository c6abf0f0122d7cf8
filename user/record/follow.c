// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The side band while CPUs go and come; see loop.h. perf's part of it is
 * lib/sideband.c. Called by loop.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/now.h"
#include "record/loop.h"

#define LOOK_NS		100000000ull	/* between two looks at which CPUs are online */

int record_watch_side_band(struct record_loop *l)
{
	unsigned int n = kjoule_sideband_poll(l->sb, NULL, 0);
	struct pollfd *fds = realloc(l->fds, (FD_SIDE_BAND + n) * sizeof(*fds));

	if (!fds)
		return kjoule_fail(&l->err, ENOMEM, "no memory");
	l->fds = fds;
	memset(fds + FD_SIDE_BAND, 0, n * sizeof(*fds));
	l->n_fds = FD_SIDE_BAND + n;
	kjoule_sideband_poll(l->sb, fds + FD_SIDE_BAND, n);
	return 0;
}

/* What the module reports of the session's CPUs. Return: whether it has reported any */
static bool record_read_notices(struct record_loop *l)
{
	struct kjoule_notice notice;
	bool any = false;
	int ret = 0;

	while (l->notices && (ret = kjoule_events_next(l->notices, &notice, NULL)) > 0) {
		if (notice.event != KJOULE_EVENT_CPU_OFFLINE &&
		    notice.event != KJOULE_EVENT_CPU_ONLINE)
			continue;
		kjoule_sideband_notice(l->sb, notice.cpu, notice.event == KJOULE_EVENT_CPU_ONLINE);
		any = true;
	}
	if (ret != -ENOBUFS)
		return any;
	/* some were dropped: it may have been any */
	for (int cpu = kjoule_cpus_next(&l->session.cpus, 0); cpu >= 0;
	     cpu = kjoule_cpus_next(&l->session.cpus, cpu + 1)) {
		kjoule_sideband_notice(l->sb, cpu, false);
		kjoule_sideband_notice(l->sb, cpu, true);
	}
	return true;
}

/*
 * perf's side band of a CPU ends when that goes offline. The module tells when a CPU of the
 * session is back; a look at all of them now and then finds the others. What began on
 * them before the side band was restarted is read from /proc.
 */
int record_follow_cpus(struct record_loop *l, uint64_t now)
{
	int n, ret;

	if (!record_read_notices(l) && now - l->looked_ns < LOOK_NS)
		return 0;
	l->err.text[0] = '\0';
	n = ret = kjoule_sideband_follow(l->sb, record_writer_side_band, l->w);
	if (n > 0) {
		l->side_band_anew += n;
		ret = kjoule_sideband_proc(l->process, kjoule_now_ns(), l->looked_ns,
					   record_writer_side_band, l->w);
	}
	l->looked_ns = now;
	if (ret < 0 && ret != -ESRCH)
		return l->err.text[0] ? ret : kjoule_fail(&l->err, -ret, "the side band of CPUs that came back: %s",
							  strerror(-ret));
	return n ? record_watch_side_band(l) : 0;
}
