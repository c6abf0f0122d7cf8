// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state file of a process that holds a frequency: original limits, and what they were set to
 * since. Lines of text, appended; the holder has the file locked.
 *
 *	kjoule-frequency 1
 *	boot BOOT_ID
 *	pid PID
 *	policy NUMBER MIN MAX		before anything was changed, in kHz
 *	ready				without this line nothing was
 *	held NUMBER MIN MAX		before it is set, and as it was read back
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/machine/frequency_state.h"

#define BOOT_ID		"/proc/sys/kernel/random/boot_id"
#define HEAD		"kjoule-frequency 1"

/* More than any machine's policies and a long sweep make. */
#define STATE_MOST	(16u << 20)

/* A second. */
#define LOCK_TRIES	100
#define LOCK_WAIT_NS	10000000

static int state_write_bytes(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		text += n;
		len -= n;
	}
	return 0;
}

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
	int fd = open(state, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	char text[256];
	struct stat st;
	ssize_t n;
	long pid = 0;
	char *at;

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
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "\npid ");
	if (at)
		pid = strtol(at + 5, NULL, 10);
	close(fd);
	return kjoule_fail(err, EBUSY,
			   "process %ld holds the CPUs at a frequency (%s): wait for its end",
			   pid, state);
}

static int limit_paths_make(struct kjoule_frequency *f)
{
	f->paths = calloc(f->n, sizeof(*f->paths));
	if (!f->paths)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		unsigned int number = f->policies[i].number;
		int ret = kjoule_frequency_path(f->sysfs, number, "scaling_min_freq",
						f->paths[i].min, FREQUENCY_PATH);

		if (!ret)
			ret = kjoule_frequency_path(f->sysfs, number, "scaling_max_freq",
						    f->paths[i].max, FREQUENCY_PATH);
		if (ret)
			return ret;
	}
	return 0;
}

/* Read limits again with the lock: before, they may have been another process's frequency. */
static int policies_read_again(struct kjoule_frequency *f)
{
	f->kept = calloc(f->n, sizeof(*f->kept));
	if (!f->kept)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		struct kjoule_policy *p = &f->policies[i];
		uint32_t min_khz, max_khz;

		/* one that cannot be read now cannot be held either, which is reported then */
		if (!kjoule_frequency_read(f->sysfs, p->number, "scaling_min_freq", &min_khz) &&
		    !kjoule_frequency_read(f->sysfs, p->number, "scaling_max_freq", &max_khz)) {
			p->min_khz = min_khz;
			p->max_khz = max_khz;
		}
		f->kept[i] = (struct frequency_kept){ .number = p->number, .min_khz = p->min_khz,
						      .max_khz = p->max_khz };
	}
	return 0;
}

void kjoule_frequency_forget(struct kjoule_frequency *f)
{
	for (size_t i = 0; i < f->n && f->kept; i++)
		free(f->kept[i].made);
	free(f->kept);
	f->kept = NULL;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static int state_write(const struct kjoule_frequency *f)
{
	char boot[80], *text = NULL;
	size_t len;
	FILE *s = open_memstream(&text, &len);
	int ret;

	if (!s)
		return -ENOMEM;
	boot_id_read(boot, sizeof(boot));
	fprintf(s, HEAD "\nboot %s\npid %d\n", boot, (int)getpid());
	for (size_t i = 0; i < f->n; i++)
		fprintf(s, "policy %u %u %u\n", f->policies[i].number, f->policies[i].min_khz,
			f->policies[i].max_khz);
	fprintf(s, "ready\n");
	ret = fclose(s) ? -ENOMEM : state_write_bytes(f->fd, text, len);
	if (!ret && fsync(f->fd))
		ret = -errno;
	free(text);
	return ret;
}

int kjoule_frequency_keep(struct kjoule_frequency *f, struct kjoule_error *err)
{
	struct stat st;
	int ret;

	if (f->fd >= 0)
		return 0;
	err->text[0] = '\0';
	ret = f->paths ? 0 : limit_paths_make(f);
	if (!ret)
		ret = state_open_locked(f->state, O_CREAT, err);
	if (ret >= 0) {
		f->fd = ret;
		/* a process was killed since the last recovery: that comes first */
		ret = fstat(f->fd, &st) ? -errno : st.st_size ? -EEXIST : policies_read_again(f);
		if (!ret)
			ret = state_write(f);
	}
	if (!ret)
		return 0;
	kjoule_frequency_forget(f);
	if (ret == -EACCES || ret == -EPERM)
		return err->text[0] ? ret : kjoule_fail(err, -ret, "%s: %s; frequencies are changed by root: run it with sudo",
							 f->state, strerror(-ret));
	return err->text[0] ? ret : kjoule_fail(err, -ret, "%s: %s", f->state, strerror(-ret));
}

static int kept_add_khz(struct frequency_kept *k, uint32_t khz)
{
	uint32_t *slot;

	for (size_t i = 0; i < k->n; i++)
		if (k->made[i] == khz)
			return 0;
	slot = kjoule_array_grow(&k->made, &k->n, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	*slot = khz;
	return 0;
}

int kjoule_frequency_note(struct kjoule_frequency *f, unsigned int policy, uint32_t min_khz,
			  uint32_t max_khz)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "held %u %u %u\n", policy, min_khz, max_khz), ret = 0;

	for (size_t i = 0; i < f->n && !ret; i++) {
		if (f->kept[i].number != policy)
			continue;
		ret = kept_add_khz(&f->kept[i], min_khz);
		if (!ret)
			ret = kept_add_khz(&f->kept[i], max_khz);
	}
	return ret ? ret : state_write_bytes(f->fd, line, n);
}

struct story {
	char boot[80];
	long pid;
	bool ready;
	size_t n;
	struct frequency_kept *kept;
};

static void state_free(struct story *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->kept[i].made);
	free(s->kept);
}

static struct frequency_kept *kept_find(struct story *s, unsigned int number)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->kept[i].number == number)
			return &s->kept[i];
	return NULL;
}

/* Return: 0, -EBADMSG, -ENOMEM */
static int state_parse_line(struct story *s, const char *line)
{
	unsigned int number, min_khz, max_khz;
	struct frequency_kept *k;
	int ret = 0;

	if (!strcmp(line, "ready")) {
		s->ready = true;
	} else if (sscanf(line, "boot %79s", s->boot) == 1 || sscanf(line, "pid %ld", &s->pid) ==
		   1) {
		return 0;
	} else if (sscanf(line, "policy %u %u %u", &number, &min_khz, &max_khz) == 3) {
		k = kjoule_array_grow(&s->kept, &s->n, sizeof(*k));
		if (!k)
			return -ENOMEM;
		*k = (struct frequency_kept){ .number = number, .min_khz = min_khz,
					      .max_khz = max_khz };
	} else if (sscanf(line, "held %u %u %u", &number, &min_khz, &max_khz) == 3) {
		k = kept_find(s, number);
		if (!k)
			return -EBADMSG;
		ret = kept_add_khz(k, min_khz);
		if (!ret)
			ret = kept_add_khz(k, max_khz);
	} else if (strcmp(line, HEAD)) {
		return -EBADMSG;
	}
	return ret;
}

/* An incomplete last line is ignored: what it announces was not done. */
static int state_read(int fd, struct story *s)
{
	struct stat st;
	char *text, *line, *rest, *end;
	int ret = 0;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size > STATE_MOST)
		return -EFBIG;
	text = calloc(1, st.st_size + 1);
	if (!text)
		return -ENOMEM;
	if (pread(fd, text, st.st_size, 0) != st.st_size)
		ret = -EIO;
	end = strrchr(text, '\n');
	if (end)
		end[1] = '\0';
	else
		text[0] = '\0';
	for (rest = text; !ret && (line = strsep(&rest, "\n"));)
		ret = line[0] ? state_parse_line(s, line) : 0;
	free(text);
	return ret;
}

static bool khz_is_ours(const struct frequency_kept *k, uint32_t khz, uint32_t before)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->made[i] == khz)
			return true;
	return khz == before;
}

/* " (25 to 100 MHz)" if all policies had the same limits */
static const char *limits_format_range(const struct story *s, char *buf, size_t len)
{
	const struct frequency_kept *first = &s->kept[0];

	buf[0] = '\0';
	for (size_t i = 0; i < s->n; i++)
		if (s->kept[i].min_khz != first->min_khz || s->kept[i].max_khz != first->max_khz)
			return buf;
	snprintf(buf, len, " (%.6g to %.6g MHz)", first->min_khz / 1e3, first->max_khz / 1e3);
	return buf;
}

int kjoule_frequency_give_back(const char *sysfs, const struct frequency_kept *k, uint32_t *at_khz)
{
	uint32_t min_khz;
	int ret = kjoule_frequency_read(sysfs, k->number, "scaling_min_freq", &min_khz);

	if (!ret)
		ret = kjoule_frequency_read(sysfs, k->number, "scaling_max_freq", at_khz);
	/* limits of a policy with only offline CPUs cannot be read until they are back */
	if (ret)
		return ret == -ENOENT ? FREQUENCY_NOTHING : ret;
	if (min_khz == k->min_khz && *at_khz == k->max_khz)
		return FREQUENCY_NOTHING;
	if (!khz_is_ours(k, min_khz, k->min_khz) || !khz_is_ours(k, *at_khz, k->max_khz))
		return FREQUENCY_OTHERS;
	ret = kjoule_frequency_limits(sysfs, k->number, k->min_khz, k->max_khz);
	return !ret ? FREQUENCY_BACK : ret == -ENOENT ? FREQUENCY_NOTHING : ret;
}

/* Restore all that is possible; report the first that is not. */
static int limits_restore(const char *sysfs, const char *state, const struct story *s, char *said,
			  size_t len, struct kjoule_error *err)
{
	unsigned int restored = 0, others = 0, failed = 0;
	const struct frequency_kept *first = NULL;
	uint32_t at_khz = 0;
	char range[64];
	int error = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint32_t khz;
		int ret = kjoule_frequency_give_back(sysfs, &s->kept[i], &khz);

		at_khz = ret == FREQUENCY_BACK ? khz : at_khz;
		restored += ret == FREQUENCY_BACK;
		others += ret == FREQUENCY_OTHERS;
		failed += ret < 0;
		if (ret < 0 && !first) {
			first = &s->kept[i];
			error = ret;
		}
	}
	if (restored)
		snprintf(said, len, "process %ld was killed while it held the CPUs at %.6g MHz: the limits from before are restored%s%s%s",
			 s->pid, at_khz / 1e3, limits_format_range(s, range, sizeof(range)),
			 others ? ", but where somebody else has changed them since" : "",
			 failed ? ", but where they cannot be" : "");
	else if (others)
		snprintf(said, len, "process %ld was killed while it held the CPUs at a frequency; somebody else has changed the limits since, and they are left as they are",
			 s->pid);
	if (!first)
		return restored > 0;
	range[0] = '\0';
	if (failed > 1)
		snprintf(range, sizeof(range), ", nor can %u others", failed - 1);
	return kjoule_fail(err, -error, "process %ld was killed while it held the CPUs at a frequency; policy%u cannot be given back its limits of %u to %u kHz: %s%s; %s `kjoule sweep --restore`, or remove %s, which has what they were",
			   s->pid, first->number, first->min_khz, first->max_khz, strerror(-error),
			   range,
			   error == -EACCES || error == -EPERM ? "run it with sudo:" :
			   "bring its CPUs online and run", state);
}

int kjoule_frequency_recover(const char *sysfs, const char *state, char *said, size_t len,
			     struct kjoule_error *err)
{
	struct story s = { .pid = 0 };
	char boot[80];
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
	ret = state_read(fd, &s);
	if (ret)
		kjoule_fail(err, -ret,
			    "%s: %s: it should have the limits that the CPUs' frequencies had; look at it, and remove it",
			    state, strerror(-ret));
	else if (s.ready && !strcmp(s.boot, boot))
		ret = limits_restore(sysfs, state, &s, said, len, err);
	if (ret >= 0)
		unlink(state);
	state_free(&s);
	close(fd);
	return ret;
}

int kjoule_frequency_inherit(const struct kjoule_frequency *f, char *said, size_t len,
			     struct kjoule_error *err)
{
	return kjoule_frequency_recover(f->sysfs, f->state, said, len, err);
}
