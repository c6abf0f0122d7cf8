// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who is sampled is who was asked for: a process with its children, however short they
 * live, or without them, a thread, a cgroup. What they ran is what the samples tell.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 240
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../ktap.h"
#include "stats.h"
#include "guest.h"
#include "module.h"
#include "need.h"
#include "nl.h"
#include "ring.h"

#define INTERVAL_NS	250000
#define CGROUP		"/run/kjoule-cgroup"
#define ROUNDS		30
#define MISSED_MANY	0.15	/* of the children's ticks: that was not the machine to judge on */
#define TRIES		4
#define ENDS_NS		10000000000	/* until a process has ended that is about to */
#define FREED_NS	5000000000	/* and until RCU has freed it */
#define LONG_ENOUGH_NS	4000000000	/* of a family; more than the rings hold is too long */

static struct nl nl;
static struct nl_session info;
static struct device d;
static struct walk walk[NL_MAX_CPUS];
static pid_t asked;			/* process or thread whose samples are counted apart */
static uint64_t samples, samples_of_asked, samples_of_others, processes;

static void on_sample(struct walk *w, uint64_t tick, const struct kjoule_sample *s)
{
	static uint32_t last_tgid[NL_MAX_CPUS];

	(void)tick;
	(void)s;
	samples++;
	if (w->tgid == (uint32_t)asked || w->pid == (uint32_t)asked)
		samples_of_asked++;
	else
		samples_of_others++;
	processes += w->tgid != last_tgid[w->cpu % NL_MAX_CPUS];
	last_tgid[w->cpu % NL_MAX_CPUS] = w->tgid;
}

static bool begin(const struct nl_config *c)
{
	unsigned int i;

	samples = samples_of_asked = samples_of_others = processes = 0;
	if (!session_begin(&nl, c, &info, &d, walk))
		return false;
	for (i = 0; i < d.n; i++)
		walk[i].on_sample = on_sample;
	sleep_ms(10);
	return true;
}

static void end(const char *name)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	check_stats(name, &nl, &info, &d, walk);
}

static void forget(void)
{
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	device_unmap(&d);
	device_close(&d);
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Compute for so much time of this process. */
static void compute(double seconds)
{
	double until = cpu_s() + seconds;
	volatile unsigned int i;

	while (cpu_s() < until)
		for (i = 0; i < 2000; i++)
			;
}

/* What those whom this process waited for took, and whom they waited for. */
static double children_s(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return r.ru_utime.tv_sec + r.ru_stime.tv_sec +
	       (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

/*
 * A process that waits for a byte, then forks @children one after another, or as many as it gets
 * to while the rings have room. Each computes for @each_s; the process says in the end how much
 * time it and they took. That of the children is what the scheduler has counted for them, from
 * their first instruction to their end: far more than @each_s where that is short.
 */
struct parent {
	pid_t pid;
	int go, result;
};

/* What it has to say in the end. */
struct spent {
	double own_s, theirs_s;
	int children;
};

static bool parent_start(struct parent *p, int children, double each_s, int depth)
{
	int go[2], result[2];

	if (pipe(go) || pipe(result))
		return false;
	p->pid = fork();
	if (!p->pid) {
		struct spent spent = { 0 };
		uint64_t until;
		char byte;

		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		until = now_ns() + LONG_ENOUGH_NS;
		while (spent.children < children && now_ns() < until) {
			pid_t child = fork();

			if (!child) {
				/* the last of a row of forks is the one that computes */
				for (int below = 1; below < depth; below++) {
					child = fork();
					if (child) {
						waitpid(child, NULL, 0);
						_exit(0);
					}
				}
				compute(each_s);
				_exit(0);
			}
			waitpid(child, NULL, 0);
			spent.children++;
		}
		spent.own_s = cpu_s();
		spent.theirs_s = children_s();
		if (write(result[1], &spent, sizeof(spent)) != sizeof(spent))
			_exit(1);
		_exit(0);
	}
	close(go[0]);
	close(result[1]);
	p->go = go[1];
	p->result = result[0];
	return p->pid > 0;
}

/* Have it run and end. */
static struct spent parent_run(struct parent *p)
{
	struct spent spent = { 0 };

	if (write(p->go, "", 1) != 1 || read(p->result, &spent, sizeof(spent)) != sizeof(spent))
		ktap_not_ok("a parent and its children");
	waitpid(p->pid, NULL, 0);
	close(p->go);
	close(p->result);
	return spent;
}

/*
 * The same ticks again, of everything: which of them fell on processes that the parent forked, and
 * which were missed next to those on that CPU, who misses far more where it forks than where it is
 * idle. What was missed between two samples of theirs is theirs, and what was missed next to one of
 * theirs or of the parent's may be. A machine that is taken away
 * while a task is woken and does not run yet falsifies the comparison: a remote wake-up starts the
 * scheduler's charge, and the ticks are skipped.
 */
struct reference {
	struct nl nl;
	struct nl_session info;
	struct device d;
	struct walk walk[NL_MAX_CPUS];
	pid_t parent;
	uint64_t samples;
	uint64_t missed, missed_maybe;
	uint64_t missed_before[NL_MAX_CPUS];	/* the last sample, by anybody */
	bool theirs[NL_MAX_CPUS];		/* that was theirs */
	bool family[NL_MAX_CPUS];		/* or the parent's */
};

/* A walk's gaps are those of skipped ticks as well. */
static uint64_t missed_by(const struct walk *w)
{
	return w->gap_ticks - w->parked_ticks;
}

static void on_reference(struct walk *w, uint64_t tick, const struct kjoule_sample *s)
{
	struct reference *by = w->data;
	unsigned int i = w - by->walk;
	/* the guest is idle else, so whoever has a newer number is the parent's */
	bool theirs = (pid_t)w->tgid > by->parent, family = (pid_t)w->tgid >= by->parent;
	uint64_t missed = missed_by(w) - by->missed_before[i];

	(void)tick;
	(void)s;
	by->samples += theirs;
	by->missed += theirs && by->theirs[i] ? missed : 0;
	by->missed_maybe += family || by->family[i] ? missed : 0;
	by->missed_before[i] += missed;
	by->theirs[i] = theirs;
	by->family[i] = family;
}

static bool reference_begin(struct reference *w, pid_t parent)
{
	unsigned int i;

	memset(w, 0, sizeof(*w));
	w->parent = parent;
	nl_open(&w->nl);
	if (!session_begin(&w->nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
							.ring_bytes = 1 << 22 }, &w->info,
			   &w->d, w->walk))
		return false;
	for (i = 0; i < w->d.n; i++) {
		w->walk[i].on_sample = on_reference;
		w->walk[i].data = w;
	}
	return true;
}

static void reference_end(struct reference *w)
{
	nl_session_do(&w->nl, KJOULE_CMD_SESSION_STOP, w->info.id, &w->info);
	drain_map(&w->d, w->walk);
	device_unmap(&w->d);
	device_close(&w->d);
	nl_close(&w->nl);
}

/* What one run of a family and of the reference came to. */
struct family {
	struct spent spent;		/* what the scheduler has counted */
	int64_t seen;			/* their samples in the session that asked for them, */
	int64_t of_all;		/* and in the one of everything; */
	/* ticks of theirs that this one missed, at least and at most, */
	int64_t missed, missed_maybe;
	int64_t more_missed;		/* and that the first one missed more, of all */
	struct nl_session after;
};

static bool run_family(const char *name, int children, double each_s, int depth, struct family *f)
{
	static struct nl_stats stats[NL_MAX_CPUS];
	static struct reference reference;
	struct parent p;
	int n;

	if (!parent_start(&p, children, each_s, depth))
		ktap_not_ok("%s: processes", name);
	asked = p.pid;
	if (!begin(&(struct nl_config){ .interval_ns = INTERVAL_NS, .target = KJOULE_TARGET_PROCESS,
					.pid = p.pid, .flags = KJOULE_FLAG_INHERIT }) ||
	    !reference_begin(&reference, p.pid))
		return false;
	f->spent = parent_run(&p);
	reference_end(&reference);
	await(!nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &f->after) &&
	      !f->after.children);
	end(name);
	f->seen = samples_of_others;
	f->of_all = reference.samples;
	f->missed = reference.missed;
	f->missed_maybe = reference.missed_maybe;
	f->more_missed = 0;
	for (n = nl_stats(&nl, info.id, stats, NL_MAX_CPUS); n-- > 0;)
		f->more_missed += stats[n].missed;
	for (n = reference.d.n; n-- > 0;)
		f->more_missed -= missed_by(&reference.walk[n]);
	forget();
	return true;
}

static void check_family(const char *name, int children, double each_s, int depth)
{
	double least_s, most_s;
	int64_t more, less;
	struct family f;
	int tries = 0;

	/*
	 * where the machine has other work, ticks are late, and whose time was missed is not known
	 */
	do {
		if (!run_family(name, children, each_s, depth, &f))
			return;
		least_s = (f.of_all + f.missed) * (INTERVAL_NS / 1e9);
		most_s = (f.of_all + f.missed_maybe) * (INTERVAL_NS / 1e9);
		ktap_diag("%s: %d children took %.3f s; %" PRId64
			  " samples of them; in a session of everything %" PRId64
			  ", which with ticks missed next to them is %.3f to %.3f s; %" PRId64
			  " ticks more were missed than there; %" PRIu64 " changes of process seen",
			  name, f.spent.children, f.spent.theirs_s, f.seen, f.of_all, least_s,
			  most_s, f.more_missed, processes);
	} while (f.missed_maybe > MISSED_MANY * f.of_all && ++tries < TRIES);
	ktap_check(f.spent.theirs_s >= 0.9 * f.spent.children * each_s &&
		   f.spent.theirs_s > 0.94 * least_s && f.spent.theirs_s < 1.06 * most_s,
		   "%s: samples times the interval are the time that the scheduler has counted (%.3f to %.3f)", name,
		   least_s / f.spent.theirs_s, most_s / f.spent.theirs_s);
	/*
	 * other phases of the same interval: they differ by chance, and by what one missed more
	 * than the other
	 */
	more = f.more_missed > 0 ? f.more_missed : 0;
	less = f.more_missed < 0 ? -f.more_missed : 0;
	ktap_check(f.of_all > 200 && f.seen + more > 0.9 * f.of_all &&
		   f.seen - less < 1.1 * f.of_all,
		   "%s: what the children ran is in the samples (%.3f)", name,
		   (double)f.seen / f.of_all);
	if (each_s > 4 * INTERVAL_NS / 1e9)
		ktap_check(processes >= (uint64_t)f.spent.children, "%s: each of them is seen", name);
	ktap_check_equal(0, f.after.children, "once they are gone none is followed");
	ktap_check_equal(0, f.after.children_lost, "and none could not be followed");
}

static void check_alone(void)
{
	struct parent p;

	if (!parent_start(&p, 50, 0.004, 1))
		ktap_not_ok("processes");
	asked = p.pid;
	if (!begin(&(struct nl_config){ .interval_ns = INTERVAL_NS, .target = KJOULE_TARGET_PROCESS,
					.pid = p.pid }))
		return;
	parent_run(&p);
	end("without children");
	ktap_check_equal(0, samples_of_others, "without inherit nothing of the children is sampled");
	forget();
}

/* Wait until it is "PROGRAM compute", which is what busy_exec() makes of it. */
static bool runs_another(pid_t pid)
{
	uint64_t until = now_ns() + ENDS_NS;
	char path[40], words[256] = "";
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	do {
		sleep_ms(2);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		len = fd < 0 ? 0 : read(fd, words, sizeof(words) - 1);
		close(fd);
		words[len > 0 ? len : 0] = 0;
		if (len > 9 && !strcmp(words + len - 8, "compute"))
			return true;
	} while (now_ns() < until);
	return false;
}

/* A process that another thread than the first one replaces keeps its identity. */
static void check_exec(void)
{
	struct nl_session now;
	uint64_t before;
	struct busy b;

	busy_start(&b, 2);
	asked = b.pid;
	if (!begin(&(struct nl_config){ .interval_ns = INTERVAL_NS, .target = KJOULE_TARGET_PROCESS,
					.pid = b.pid, .flags = KJOULE_FLAG_INHERIT }))
		return;
	sleep_ms(100);
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &now);
	ktap_check_equal(1, now.children, "a process with threads is one process");
	busy_exec(&b);
	if (!runs_another(b.pid))
		ktap_not_ok("an exec by its second thread");
	drain_map(&d, walk);
	before = samples;
	ktap_check(drain_until(&d, walk, 300, &samples, before + 50), "after an exec by its second thread a process is still the target");
	nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &now);
	ktap_check_equal(1, now.children, "and still one process");
	busy_stop(&b);
	end("exec");
	ktap_check_equal(samples, samples_of_asked, "all samples are of it");
	forget();
}

static void check_thread(void)
{
	struct busy b;
	unsigned int i, of_thread = 0;
	bool seen;

	busy_start(&b, 2);
	asked = b.tid[1];
	if (!begin(&(struct nl_config){ .interval_ns = INTERVAL_NS, .target = KJOULE_TARGET_THREAD,
					.pid = b.tid[1] }))
		return;
	seen = drain_until(&d, walk, 500, &samples_of_asked, 100);
	end("a thread");
	ktap_check(seen, "a thread is sampled");
	ktap_check(!samples_of_others, "alone, not its process");
	for (i = 0; i < d.n; i++)
		of_thread += walk[i].tasks;
	ktap_check(of_thread, "and its id is reported");
	forget();
	busy_stop(&b);
	ktap_check_equal(-ESRCH,
			 nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
								  .target = KJOULE_TARGET_THREAD,
								  .pid = b.tid[1] }, &info), "a thread that is gone is no target");
}

static bool cgroup_put_process(const char *path, pid_t pid)
{
	char file[128], text[16];
	int fd, len;
	bool done;

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	fd = open(file, O_WRONLY);
	len = snprintf(text, sizeof(text), "%d", pid);
	done = fd >= 0 && write(fd, text, len) == len;
	close(fd);
	return done;
}

static void check_cgroup(void)
{
	struct busy in, below, out;
	bool seen;
	int fd;

	mkdir(CGROUP, 0755);
	if (mount("none", CGROUP, "cgroup2", 0, NULL)) {
		ktap_skip("a cgroup is sampled",
			  "no cgroup version 2 can be mounted: it takes CONFIG_CGROUPS, and root");
		return;
	}
	mkdir(CGROUP "/a", 0755);
	mkdir(CGROUP "/a/b", 0755);
	busy_start(&in, 1);
	busy_start(&below, 1);
	busy_start(&out, 1);
	if (!cgroup_put_process(CGROUP "/a", in.pid) ||
	    !cgroup_put_process(CGROUP "/a/b", below.pid))
		ktap_not_ok("processes in cgroups: %s", strerrorname_np(errno));
	fd = open(CGROUP "/a", O_RDONLY | O_DIRECTORY);
	asked = below.pid;
	if (begin(&(struct nl_config){ .interval_ns = INTERVAL_NS, .target = KJOULE_TARGET_CGROUP,
				       .cgroup_fd = fd })) {
		ktap_check(drain_until(&d, walk, 600, &samples_of_asked, 100) &&
			   drain_until(&d, walk, 0, &samples_of_others, 100), "the processes of a cgroup and of those below it are sampled");
		cgroup_put_process(CGROUP, below.pid);
		drain_map(&d, walk);
		sleep_ms(50);
		drain_map(&d, walk);
		samples_of_asked = samples_of_others = 0;
		asked = in.pid;
		seen = drain_until(&d, walk, 300, &samples_of_asked, 50);
		end("a cgroup");
		ktap_check(seen, "who is still in it is sampled");
		ktap_check(!samples_of_others, "who has left it is not, nor who never was in it");
		forget();
	}
	close(fd);
	fd = open("/tmp", O_RDONLY | O_DIRECTORY);
	ktap_check_equal(-EBADF,
			 nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
								  .target = KJOULE_TARGET_CGROUP,
								  .cgroup_fd = fd }, &info), "another directory is no cgroup");
	close(fd);
	ktap_check_equal(-EBADF,
			 nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
								  .target = KJOULE_TARGET_CGROUP,
								  .cgroup_fd = 999 }, &info), "a number without a file is refused");
	busy_stop(&in);
	busy_stop(&below);
	busy_stop(&out);
	rmdir(CGROUP "/a/b");
	rmdir(CGROUP "/a");
	umount(CGROUP);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		ktap_diag("%s: %s", path, strerror(errno));
	close(fd);
}

/*
 * A process that ends while its session is made: either there is no session, or the process
 * is not in it for ever. Its memory is used for another process's signals soon.
 */
static void check_reaped(void)
{
	unsigned int i, made = 0, refused = 0, stay = 0, left = 0;
	uint64_t begun, until, took_ns = 0;
	const char *lacks = lacks_reload();
	void (*before)(int);
	pid_t pid;
	int go[2], err;
	char c;

	if (lacks) {
		ktap_skip("a process that is reaped while its session is made", lacks);
		return;
	}
	before = signal(SIGCHLD, SIG_IGN);
	/* callbacks of RCU come soon */
	write_file("/sys/module/rcutree/parameters/jiffies_till_first_fqs", "0");
	write_file("/sys/module/rcutree/parameters/jiffies_till_next_fqs", "0");
	/*
	 * round 0 tells how long it takes, with a process that stays; the others end from its
	 * beginning to after its end
	 */
	for (i = 0; i <= ROUNDS; i++) {
		/* loaded again, its probes have to be attached again */
		nl_close(&nl);
		if (module_unload() || module_load() || nl_open(&nl) || pipe2(go, O_CLOEXEC))
			break;
		pid = fork();
		if (!pid) {
			close(go[1]);
			if (read(go[0], &c, 1) == 1)
				usleep(i ? (i - 1) * 3 * took_ns / ROUNDS / 1000 : 1000000);
			_exit(0);
		}
		if (write(go[1], "!", 1) != 1)
			break;
		begun = now_ns();
		err = nl_session_new(&nl, &(struct nl_config){ .interval_ns = INTERVAL_NS,
							       .target = KJOULE_TARGET_PROCESS,
							       .pid = pid,
							       .flags = KJOULE_FLAG_INHERIT },
				     &info);
		close(go[0]);
		close(go[1]);
		if (!i)
			took_ns = now_ns() - begun;
		refused += err == -ESRCH;
		if (err)
			continue;
		made++;
		/* until it has ended, and what is left of it is freed */
		for (until = now_ns() + 3 * took_ns + ENDS_NS; !kill(pid, 0) && now_ns() < until;)
			sleep_ms(5);
		stay += !kill(pid, 0);
		/* RCU frees it, when it comes to it; one that stays does so for ever */
		until = now_ns() + FREED_NS;
		do {
			sleep_ms(20);
			nl_session_do(&nl, KJOULE_CMD_SESSION_GET, info.id, &info);
		} while (info.children && now_ns() < until);
		left += info.children != 0;
		nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	}
	signal(SIGCHLD, before);
	ktap_diag("%u sessions made, %u refused, %u with a process that had ended; to make one takes %.1f ms", made, refused,
		  left, took_ns / 1e6);
	ktap_check(!stay, "every process has ended");
	ktap_check(made > 1 && made + refused == ROUNDS + 1 && !left,
		   "a process that ends while its session is made does not stay in it");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "compute"))
		busy_forever();
	need_module();
	nl_open(&nl);
	check_reaped();
	if (lacks_module()) {
		ktap_not_ok("the module is there: %s", lacks_module());
		return ktap_end();
	}
	/*
	 * two sessions at this rate are much for an emulated CPU, and what is left out is not
	 * attributed
	 */
	ticks_may_take("100");
	check_family("200 children of 2 ms", 200, 0.002, 1);
	check_family("800 children shorter than a tick", 800, 0.0001, 1);
	check_family("grandchildren", 60, 0.004, 3);
	ticks_may_take("40");
	check_alone();
	check_exec();
	check_thread();
	check_cgroup();
	ktap_check_equal(0, session_count(), "no session is left");
	(void)argv;
	return ktap_end();
}
