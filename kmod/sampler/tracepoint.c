// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches probes to tracepoints of the kernel while they are used, and for some seconds longer:
 * attaching patches the kernel's code and interrupts every CPU, which short sessions in a row
 * should not repeat. The scheduler's tracepoints are not exported, so they are looked up by name.
 */
#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "compat/compat.h"
#include "sampler/tracepoint.h"

/* Seconds. Not tuned: longer than the time between sessions of a script, and nothing waits. */
#define LINGER_S	10

static DEFINE_MUTEX(probes_lock);

static void probes_match_tracepoint(struct tracepoint *tp, void *priv)
{
	struct kjoule_probes *p = priv;
	unsigned int i;

	for (i = 0; i < p->n; i++) {
		if (!strcmp(tp->name, p->probe[i].name))
			p->probe[i].tp = tp;
	}
}

static void probes_detach(struct kjoule_probes *p, unsigned int n)
{
	while (n--)
		tracepoint_probe_unregister(p->probe[n].tp, p->probe[n].function, NULL);
	tracepoint_synchronize_unregister();
	p->attached = false;
}

static int probes_attach(struct kjoule_probes *p)
{
	unsigned int i;
	int err;

	for_each_kernel_tracepoint(probes_match_tracepoint, p);
	for (i = 0; i < p->n; i++) {
		struct kjoule_probe *probe = &p->probe[i];

		err = probe->tp ? tracepoint_probe_register(probe->tp, probe->function, NULL) :
				  -EOPNOTSUPP;
		if (err) {
			probes_detach(p, i);
			return err;
		}
	}
	p->attached = true;
	return 0;
}

static void probes_detach_work(struct work_struct *work)
{
	struct kjoule_probes *p = container_of(work, struct kjoule_probes, linger.work);

	mutex_lock(&probes_lock);
	if (p->attached && !p->users)
		probes_detach(p, p->n);
	mutex_unlock(&probes_lock);
}

/* kjoule_probes_init() - initialise probes. @p: @p->n and @p->probe are set. */
void kjoule_probes_init(struct kjoule_probes *p)
{
	INIT_DELAYED_WORK(&p->linger, probes_detach_work);
}

/**
 * kjoule_probes_exit() - detach unused probes; none runs any more at the return
 * @p:	without users; none of its probes is running any more when this returns
 */
void kjoule_probes_exit(struct kjoule_probes *p)
{
	cancel_delayed_work_sync(&p->linger);
	probes_detach_work(&p->linger.work);
}

/*
 * kjoule_probes_get() - attach probes. Return: 0, -EOPNOTSUPP if the kernel has no such tracepoint,
 * or -errno
 */
int kjoule_probes_get(struct kjoule_probes *p)
{
	int err = 0;

	mutex_lock(&probes_lock);
	if (!p->attached)
		err = probes_attach(p);
	if (!err)
		p->users++;
	mutex_unlock(&probes_lock);
	return err;
}

/** kjoule_probes_put() - undo kjoule_probes_get(); they may be called for some more seconds */
void kjoule_probes_put(struct kjoule_probes *p)
{
	mutex_lock(&probes_lock);
	if (!--p->users)
		mod_delayed_work(system_percpu_wq, &p->linger, LINGER_S * HZ);
	mutex_unlock(&probes_lock);
}
