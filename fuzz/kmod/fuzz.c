// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs of the fuzzer; see fuzz.h. Which moves there are and how often each is made.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kmod/fail.h"
#include "kmod/guest.h"
#include "kmod/module.h"
#include "kmod/nl.h"
#include "fuzz.h"

static const struct move {
	void (*make)(struct world *w);
	unsigned int weight;
} moves[] = {
	{ control_message, 480 },
	{ control_batch, 30 },
	{ control_abandon, 20 },
	{ control_receive, 15 },
	{ control_socket, 25 },
	{ control_option, 15 },
	{ bulk_ioctl, 250 },
	{ bulk_open, 30 },
	{ bulk_close, 12 },
	{ bulk_map, 25 },
	{ bulk_unmap, 12 },
	{ bulk_touch, 8 },
	{ bulk_tail, 10 },
	{ bulk_read, 45 },
	{ bulk_poll, 10 },
	{ bulk_file, 6 },
	{ other_child, 1 },
	{ other_stripped, 12 },
	{ other_stats, 6 },
};

/* the first one alone makes allocations fail and is repeated by the seed */
#define THREADS		3
#define PATIENCE_MS	20000	/* for sockets that are closed by work, later */

static struct cover *cover;
static struct kcov kcov;
static struct busy busy;
static struct world worlds[THREADS];
static struct tally *tally;
static void *image;
static size_t image_bytes;
static bool failing, stop;

struct cover *fuzz_cover(void)
{
	return cover;
}

bool fuzz_may_fail(const struct world *w)
{
	return failing && !w->thread && !w->child && !w->stripped && !w->alone;
}

static void make_any(struct world *w)
{
	unsigned int i, sum = 0, at;

	for (i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		sum += moves[i].weight;
	at = dice_below(&w->dice, sum);
	for (i = 0; at >= moves[i].weight; i++)
		at -= moves[i].weight;
	moves[chosen(w, i)].make(w);
	w->nth = 0;
}

void fuzz_move(struct world *w)
{
	bool fails = dice_one_in(&w->dice, 8);
	unsigned int nth = 1 + dice_below(&w->dice, dice_one_in(&w->dice, 2) ? 10 : 90);

	w->nth = fails && w->may_fail ? nth : 0;
	make_any(w);
}

/* One move with numbers of its own. */
static void make_move(struct world *w, struct kcov *k)
{
	dice_begin(&w->dice, w->seed, w->thread, w->moves++);
	if (w->trace)
		fprintf(w->trace, "%u.%llu ", w->thread, (unsigned long long)w->moves);
	fuzz_move(w);
	kcov_take(k, cover);
}

static void reset(struct world *w, unsigned int thread, const struct fuzz_run *run)
{
	unsigned int i;

	memset(w, 0, sizeof(*w));
	w->thread = thread;
	w->seed = run->seed;
	w->tally = tally;
	w->trace = run->trace;
	w->alone = run->alone;
	w->busy = busy.pid;
	w->cgroup_fd = -1;
	w->wanted = -1;
	for (i = 0; i < SOCKETS; i++)
		w->socket[i] = -1;
	for (i = 0; i < DEVICES; i++)
		w->device[i].fd = -1;
	w->may_fail = fuzz_may_fail(w);
}

static void *peer_main(void *data)
{
	struct world *w = data;
	struct kcov k;

	if (!kcov_begin(&k))
		return "KCOV for one more thread is not to be had";
	if (world_begin(w) && world_open(w)) {
		while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
			make_move(w, &k);
	}
	world_close(w);
	world_end(w);
	kcov_take(&k, cover);
	kcov_end(&k);
	return NULL;
}

static long number_in(const char *path)
{
	FILE *f = fopen(path, "r");
	long n = -1;

	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* What of the device this process still has, for whoever looks for what holds the module. */
static void show_holders(void)
{
	char line[512], path[64];
	unsigned int fd;
	ssize_t n;
	FILE *f;

	for (fd = 0; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%u", fd);
		n = readlink(path, line, sizeof(line) - 1);
		if (n <= 0)
			continue;
		line[n] = 0;
		if (strstr(line, "kjoule"))
			printf("# open: %u is %s\n", fd, line);
	}
	f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (strstr(line, "/dev/kjoule"))
			printf("# mapped: %s", line);
	}
	if (f)
		fclose(f);
}

/* Nothing is left of a round: the module can go, and comes again. */
static const char *reload(void)
{
	unsigned int waited;
	int err;

	for (waited = 0; session_count() || number_in("/sys/module/kjoule/refcnt"); waited += 10) {
		if (waited > PATIENCE_MS) {
			show_holders();
			return session_count() ? "a session is left although all sockets are closed" :
			       "the module is held although nothing of it is open";
		}
		sleep_ms(10);
	}
	err = module_unload();
	kcov_take(&kcov, cover);
	if (err)
		return "the module does not unload";
	if (module_load_image(image, image_bytes))
		return "the module does not load again";
	cover_locate(cover);
	kcov_take(&kcov, cover);
	count(&tally->reloads);
	return NULL;
}

/* Where a fault was, for the kernel log. */
static void mark(const struct fuzz_run *run, uint64_t move)
{
	char text[160];

	snprintf(text, sizeof(text), "kjoule-test: netlink fuzzer: seed %llu, move %llu, %llu messages so far",
		 (unsigned long long)run->seed, (unsigned long long)move,
		 (unsigned long long)tally->messages);
	fail_put("/dev/kmsg", text);
}

/* One where the family is not. */
static int net_namespace(void)
{
	int here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), there = -1;

	if (here < 0 || unshare(CLONE_NEWNET))
		return -1;
	there = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (setns(here, CLONE_NEWNET))
		abort();
	close(here);
	return there;
}

static bool is_over(const struct fuzz_run *run)
{
	if (run->moves)
		return worlds[0].moves >= run->moves;
	return __atomic_load_n(&tally->messages, __ATOMIC_RELAXED) >= run->messages;
}

static const char *one_round(const struct fuzz_run *run)
{
	struct world *w = &worlds[0];
	pthread_t thread[THREADS];
	const char *fault = NULL;
	unsigned int i, n_threads = 1;
	void *said;
	uint64_t n;

	if (!world_open(w))
		return "the family is not there";
	stop = false;
	while (!run->alone && !fault && n_threads < THREADS) {
		if (pthread_create(&thread[n_threads], NULL, peer_main, &worlds[n_threads]))
			fault = "more threads are not to be had";
		else
			n_threads++;
	}
	for (n = 0; n < run->round && !is_over(run); n++) {
		if (!(n % 1000))
			mark(run, w->moves);
		make_move(w, &kcov);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 1; i < n_threads; i++) {
		pthread_join(thread[i], &said);
		fault = fault ?: said;
	}
	world_close(w);
	kcov_take(&kcov, cover);
	return fault ?: reload();
}

void fuzz_run(const struct fuzz_run *run, struct fuzz_result *result)
{
	int net = net_namespace();
	unsigned int i;

	memset(result, 0, sizeof(*result));
	memset(tally, 0, sizeof(*tally));
	result->tally = tally;
	for (i = 0; i < THREADS; i++) {
		reset(&worlds[i], i, run);
		worlds[i].other_net = net;
		worlds[i].peer = run->alone ? NULL : &worlds[(i + 1) % THREADS];
	}
	if (!world_begin(&worlds[0]))
		result->fault = "no memory for the fuzzer";
	while (!result->fault && !is_over(run))
		result->fault = one_round(run);
	for (i = 0; i < THREADS; i++)
		result->moves += worlds[i].moves;
	result->path = worlds[0].path;
	world_end(&worlds[0]);
	close(net);
}

bool fuzz_prepare(struct cover *c)
{
	cover = c;
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	image = module_image(&image_bytes);
	if (tally == MAP_FAILED || !image || !busy_start(&busy, 1) || !kcov_begin(&kcov))
		return false;
	cover_locate(c);
	failing = fail_prepare();
	if (failing)
		fail_begin();
	return true;
}

void fuzz_done(void)
{
	if (failing)
		fail_end();
	kcov_end(&kcov);
	busy_stop(&busy);
}
