// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See frequency_state.h. The process that holds a frequency maps the state file, locked, as what it
 * knows itself: who finds it unlocked, the guardian or the next start, restores by the same
 * function as its owner does at its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/machine/frequency_state.h"

#define BOOT_ID		"/proc/sys/kernel/random/boot_id"
#define HEAD		"kjoule-frequency 2\n"

/* A second. */
#define LOCK_TRIES	100
#define LOCK_WAIT_NS	10000000

static void boot_id_read(char *id, size_t len)
{
	FILE *f = fopen(BOOT_ID, "re");

	if (!f || !fgets(id, len, f))
		snprintf(id, len, "unknown");
	id[strcspn(id, "\n")] = '\0';
	if (f)
		fclose(f);
}

/*
 * Recovery holds the lock for a moment, and a killed process until all of it is gone: wait for
 * these. Return: 0 or -errno
 */
static int state_lock(int fd)
{
	for (unsigned int tries = LOCK_TRIES; flock(fd, LOCK_EX | LOCK_NB); tries--) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || !tries)
			return -errno;
		clock_nanosleep(CLOCK_MONOTONIC, 0,
				&(struct timespec){ .tv_nsec = LOCK_WAIT_NS }, NULL);
	}
	return 0;
}

/* Return: a descriptor with the lock; -ENOENT; -EBUSY with its holder in @err; -errno */
static int state_open_locked(const char *state, int flags, struct kjoule_error *err)
{
	int fd = open(state, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	struct frequency_saved head = { .pid = 0 };
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!state_lock(fd)) {
		/* another user's file is refused */
		if (fstat(fd, &st))
			st.st_mode = 0;
		else if (S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink)
			return fd;
		close(fd);
		/* the holder of the lock has just removed it */
		if (S_ISREG(st.st_mode) && !st.st_nlink)
			return state_open_locked(state, flags, err);
		return kjoule_fail(err, EPERM,
				   "%s is not a file of yours: look at it, and remove it", state);
	}
	if (pread(fd, &head, sizeof(head), 0) != sizeof(head))
		head.pid = 0;
	close(fd);
	return kjoule_fail(err, EBUSY,
			   "process %d holds the CPUs at a frequency (%s): wait for its end",
			   head.pid, state);
}

static size_t saved_size(size_t n)
{
	return sizeof(struct frequency_saved) + n * sizeof(struct frequency_kept);
}

/* Return: 0 or -errno */
static int saved_map(int fd, size_t n, struct frequency_saved **s)
{
	void *at = mmap(NULL, saved_size(n), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	*s = at;
	return 0;
}

/* @s: NULL if nothing was changed yet. Return: 0, -EBADMSG, -errno */
static int saved_read(int fd, struct frequency_saved **s)
{
	struct frequency_saved head = { .n = 0 };
	struct stat st;

	*s = NULL;
	if (fstat(fd, &st) || pread(fd, &head, sizeof(head), 0) < 0)
		return -errno;
	/* of a process that was killed before it wrote @n, there may be less of it */
	if (strncmp(head.head, HEAD, strnlen(head.head, sizeof(head.head))))
		return -EBADMSG;
	if (!head.n)
		return 0;
	return (size_t)st.st_size == saved_size(head.n) ? saved_map(fd, head.n, s) : -EBADMSG;
}

/* Limits are read again with the lock: before, they may have been another process's frequency. */
static void saved_fill(struct kjoule_frequency *f)
{
	struct frequency_saved *s = f->saved;

	memcpy(s->head, HEAD, sizeof(HEAD));
	boot_id_read(s->boot, sizeof(s->boot));
	s->pid = getpid();
	for (size_t i = 0; i < f->n; i++) {
		struct kjoule_policy *p = &f->policies[i];
		uint32_t min_khz, max_khz;

		/* one that cannot be read now cannot be held either, which is reported then */
		if (!kjoule_frequency_read(f->sysfs, p->number, "scaling_min_freq", &min_khz) &&
		    !kjoule_frequency_read(f->sysfs, p->number, "scaling_max_freq", &max_khz)) {
			p->min_khz = min_khz;
			p->max_khz = max_khz;
		}
		s->kept[i] = (struct frequency_kept){ .number = p->number, .min_khz = p->min_khz,
						      .max_khz = p->max_khz };
	}
	/* from here on it counts */
	__atomic_store_n(&s->n, f->n, __ATOMIC_RELEASE);
}

int kjoule_frequency_keep(struct kjoule_frequency *f, struct kjoule_error *err)
{
	struct stat st;
	int ret;

	if (f->fd >= 0)
		return 0;
	err->text[0] = '\0';
	ret = state_open_locked(f->state, O_CREAT, err);
	if (ret >= 0) {
		f->fd = ret;
		ret = fstat(f->fd, &st) ? -errno : 0;
		if (!ret && st.st_size)
			ret = kjoule_fail(err, EEXIST, "%s has the limits of a process that was killed: restore them by `kjoule sweep --restore`",
					  f->state);
		/* now: a mapped file that finds no memory later ends the process */
		while (!ret && (ret = -posix_fallocate(f->fd, 0, saved_size(f->n))) == -EINTR)
			ret = 0;
		if (!ret)
			ret = saved_map(f->fd, f->n, &f->saved);
	}
	if (!ret) {
		saved_fill(f);
		return 0;
	}
	kjoule_frequency_forget(f);
	if (err->text[0])
		return ret;
	return kjoule_fail(err, -ret, "%s: %s%s", f->state, strerror(-ret),
			   ret == -EACCES || ret == -EPERM ?
			   "; frequencies are changed by root: run it with sudo" : "");
}

void kjoule_frequency_forget(struct kjoule_frequency *f)
{
	if (f->saved)
		munmap(f->saved, saved_size(f->n));
	f->saved = NULL;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static bool kept_has_khz(const struct frequency_kept *k, uint32_t khz)
{
	for (size_t i = 0; i < k->n && i < FREQUENCY_MADE; i++)
		if (k->made[i] == khz)
			return true;
	return false;
}

void kjoule_frequency_note(struct frequency_kept *k, uint32_t khz)
{
	if (kept_has_khz(k, khz))
		return;
	k->made[k->n % FREQUENCY_MADE] = khz;
	__atomic_store_n(&k->n, k->n + 1, __ATOMIC_RELEASE);
}

/* What kept_restore() has done: written a limit, left one as others have set it. */
#define KEPT_BACK	1
#define KEPT_LEFT_MIN	2
#define KEPT_LEFT_MAX	4

/*
 * The kernel lowers a minimum to the maximum: when heat, firmware or another program lowers that,
 * ours is read as theirs. One who has set both to the same looks no different; but a minimum of
 * ours must not be left, as it would come back with the maximum.
 */
static bool kept_is_lowered(const struct frequency_kept *k, uint32_t min_khz, uint32_t max_khz)
{
	for (size_t i = 0; i < k->n && i < FREQUENCY_MADE; i++)
		if (min_khz >= max_khz && k->made[i] > max_khz)
			return true;
	return false;
}

/*
 * Restore each limit of a policy that is as it was made. @at_khz: out: the frequency it was held
 * at. Return: KEPT_*, 0: there was nothing to do, or there is no such policy any more; -errno:
 * there is such a policy, and its limits cannot be read or written
 */
static int kept_restore(const char *sysfs, const struct frequency_kept *k, uint32_t *at_khz)
{
	uint32_t min_khz, max_khz;
	int ret, left = 0;
	bool lowered;

	/* it was not held */
	if (!k->n)
		return 0;
	ret = kjoule_frequency_read(sysfs, k->number, "scaling_min_freq", &min_khz);
	if (!ret)
		ret = kjoule_frequency_read(sysfs, k->number, "scaling_max_freq", &max_khz);
	/* limits of a policy with only offline CPUs cannot be read until they are back */
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	*at_khz = kept_has_khz(k, max_khz) ? max_khz : min_khz;
	lowered = kept_is_lowered(k, min_khz, max_khz);
	if (min_khz != k->min_khz && !kept_has_khz(k, min_khz) && !lowered)
		left |= KEPT_LEFT_MIN;
	if (max_khz != k->max_khz && !kept_has_khz(k, max_khz))
		left |= KEPT_LEFT_MAX;
	if ((left & KEPT_LEFT_MIN || (min_khz == k->min_khz && !lowered)) &&
	    (left & KEPT_LEFT_MAX || max_khz == k->max_khz))
		return left;
	if (!left)
		ret = kjoule_frequency_limits(sysfs, k->number, k->min_khz, k->max_khz);
	else if (left == KEPT_LEFT_MAX)
		ret = kjoule_frequency_write(sysfs, k->number, "scaling_min_freq", k->min_khz);
	else
		ret = kjoule_frequency_write(sysfs, k->number, "scaling_max_freq", k->max_khz);
	return !ret ? left | KEPT_BACK : ret == -ENOENT ? 0 : ret;
}

/* Policies for a message, as many as there is room for. */
struct kept_list {
	char text[180];
	size_t len;
	unsigned int more;
};

static void __attribute__((format(printf, 2, 3))) list_add_kept(struct kept_list *l,
								const char *fmt, ...)
{
	static const char more[] = " and 4294967295 more";
	char one[64];
	va_list args;
	size_t n;

	va_start(args, fmt);
	n = vsnprintf(one, sizeof(one), fmt, args);
	va_end(args);
	if (l->more || l->len + strlen(", ") + n + sizeof(more) > sizeof(l->text))
		snprintf(l->text + l->len, sizeof(l->text) - l->len, " and %u more", ++l->more);
	else
		l->len += snprintf(l->text + l->len, sizeof(l->text) - l->len, "%s%s",
				   l->len ? ", " : "", one);
}

/*
 * Restore all that is possible. @said: out: of a killed process what was restored, and what is left
 * alone. Return: 1: restored; 0: nothing to do; -errno: of the first that cannot be, in @err, which
 * names all of these
 */
static int saved_restore(const struct frequency_saved *s, bool killed, const char *sysfs,
			 const char *state, char *said, size_t len, struct kjoule_error *err)
{
	struct kept_list others = { .len = 0 }, failed = { .len = 0 };
	unsigned int restored = 0;
	uint32_t at_khz = 0, khz = 0;
	int ret = 0, n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct frequency_kept *k = &s->kept[i];
		int one = kept_restore(sysfs, k, &khz);

		if (one < 0) {
			ret = ret ? ret : one;
			list_add_kept(&failed, "policy%u (%u to %u kHz)", k->number, k->min_khz,
				      k->max_khz);
			continue;
		}
		if (one & KEPT_BACK) {
			at_khz = khz;
			restored++;
		}
		if (one & KEPT_LEFT_MIN)
			list_add_kept(&others, "policy%u min %u", k->number, k->min_khz);
		if (one & KEPT_LEFT_MAX)
			list_add_kept(&others, "policy%u max %u", k->number, k->max_khz);
	}
	if (ret)
		kjoule_fail(err, -ret, "cannot restore the limits of %s: %s; %s `kjoule sweep --restore`, or remove %s, which has what they were",
			    failed.text, strerror(-ret), ret == -EACCES || ret == -EPERM ?
			    "run it with sudo:" : "bring their CPUs online and run", state);
	if (restored && killed)
		n = snprintf(said, len, "process %d was killed while it held the CPUs at %.6g MHz: the limits from before are restored at %u of %u policies%s",
			     s->pid, at_khz / 1e3, restored, s->n, others.len ? "; " : "");
	if (others.len)
		snprintf(said + n, len - n, "changed since by another program, or by heat, and left alone (kHz before): %s; to have these back, write them to scaling_min_freq or scaling_max_freq in %s/devices/system/cpu/cpufreq/policy*",
			 others.text, sysfs);
	return ret ? ret : restored > 0;
}

int kjoule_frequency_restore(struct kjoule_frequency *f, struct kjoule_error *err)
{
	char said[512] = "";
	int ret;

	err->text[0] = '\0';
	if (!f->saved)
		return 0;
	ret = saved_restore(f->saved, false, f->sysfs, f->state, said, sizeof(said), err);
	/* what could not be restored stays in the file, and what is left alone is reported then */
	if (ret >= 0)
		unlink(f->state);
	if (ret >= 0 && said[0])
		kjoule_fail(err, EEXIST, "%s", said);
	kjoule_frequency_forget(f);
	return ret < 0 ? ret : 0;
}

int kjoule_frequency_recover(const char *sysfs, const char *state, char *said, size_t len,
			     struct kjoule_error *err)
{
	struct frequency_saved *s;
	char boot[sizeof(s->boot)];
	int fd, ret;

	said[0] = '\0';
	err->text[0] = '\0';
	fd = state_open_locked(state, 0, err);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return err->text[0] ? fd : kjoule_fail(err, -fd, "%s: %s%s", state, strerror(-fd),
						       fd == -EACCES ?
						       "; a process that was killed may have left the CPUs at a frequency: run it with sudo" :
						       "");
	boot_id_read(boot, sizeof(boot));
	ret = saved_read(fd, &s);
	if (ret)
		kjoule_fail(err, -ret,
			    "%s: %s: it should have the limits that the CPUs' frequencies had; look at these in sysfs, and remove it",
			    state, strerror(-ret));
	else if (s && !strncmp(s->boot, boot, sizeof(boot)))
		ret = saved_restore(s, true, sysfs, state, said, len, err);
	if (ret >= 0)
		unlink(state);
	if (s)
		munmap(s, saved_size(s->n));
	close(fd);
	return ret;
}

int kjoule_frequency_inherit(const struct kjoule_frequency *f, char *said, size_t len,
			     struct kjoule_error *err)
{
	return kjoule_frequency_recover(f->sysfs, f->state, said, len, err);
}
