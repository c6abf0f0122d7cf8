// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who called: the chains of a known recursion and of a known path through the kernel are
 * reported frame by frame, kernel frames are hidden with the kernel's addresses, and a full ring
 * loses chains by the statistics. Pointers that lie: test_callchain_hostile.c.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 120
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "caller_sample.h"
#include "caps.h"

/* Frames of the recursion: innermost first, without the sample's own address. */
static unsigned int recursion(uint64_t *ip)
{
	unsigned int n = 0;

	while (n < DEPTH)
		ip[n++] = (uintptr_t)called;
	ip[n++] = (uintptr_t)entered;
	return n;
}

static void recurse_and_spin(const void *unused)
{
	(void)unused;
	enter(DEPTH, 0, NULL, 0);
}

static void check_user(void)
{
	struct expect whole = { .what = "a recursion's callers are all there, to the outermost" };
	struct expect cut = { "as many as were asked for, and that there are more is reported",
			      .flags = KJOULE_CHAIN_USER_CUT, .n = 4 };
	struct expect none = { .what = "no user frames where none were asked for" };

	whole.n = recursion(whole.ip);
	recursion(cut.ip);
	expect(&whole, recurse_and_spin, NULL, CHAINS, 0, 0);
	expect(&cut, recurse_and_spin, NULL, CHAINS, 4, 0);
	expect(&none, recurse_and_spin, NULL, KJOULE_FLAG_KERNEL_CHAIN, 0, 0);
}

/*
 * A known path through the kernel
 */

struct symbol {
	uint64_t start;
	char name[64];
};

static struct symbol *symbols;
static size_t n_symbols;

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool read_symbols(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], type;
	size_t room = 0;

	while (f && fgets(line, sizeof(line), f)) {
		struct symbol s;

		if (sscanf(line, "%lx %c %63s", &s.start, &type, s.name) != 3 ||
		    (type != 't' && type != 'T'))
			continue;
		if (n_symbols == room) {
			room = room ? 2 * room : 1 << 16;
			symbols = realloc(symbols, room * sizeof(*symbols));
			if (!symbols)
				return false;
		}
		symbols[n_symbols++] = s;
	}
	if (f)
		fclose(f);
	if (n_symbols)
		qsort(symbols, n_symbols, sizeof(*symbols), by_start);
	return n_symbols && symbols[n_symbols - 1].start;
}

/* Is the call before @ip in a function of a name that begins so? */
static bool is_in(uint64_t ip, const char *prefix)
{
	size_t low_end = 0, high_end = n_symbols, i;
	bool found = false;

	while (low_end < high_end) {
		size_t mid = (low_end + high_end) / 2;

		if (symbols[mid].start < ip)
			low_end = mid + 1;
		else
			high_end = mid;
	}
	for (i = low_end; i-- > 0 && symbols[i].start == symbols[low_end - 1].start;)
		found |= !strncmp(symbols[i].name, prefix, strlen(prefix));
	return found;
}

struct kernel {
	unsigned int seen, in_read, ordered, user, hidden, frames, ours;
	char odd[160];
};

static void note_kernel(struct walk *w, const struct kjoule_chain *c)
{
	struct kernel *k = w->data;
	uint64_t want[DEPTH + 2] = { (uintptr_t)left };
	unsigned int n = 1 + recursion(want + 1), i;
	bool in_read = false;

	if (!(w->sample.rec.flags & KJOULE_SAMPLE_KERNEL))
		return;
	k->seen++;
	k->frames += c->kernel;
	k->hidden += !!(c->rec.flags & KJOULE_CHAIN_KERNEL_HIDDEN);
	if (c->user != n || memcmp(c->ip + c->kernel, want, n * sizeof(*want)) ||
	    c->rec.flags & KJOULE_CHAIN_USER_CUT) {
		snprintf(k->odd, sizeof(k->odd), "at %#llx: %u + %u frames, flags %#x, first of user space %#llx",
			 (unsigned long long)w->sample.ip, c->kernel, c->user, c->rec.flags,
			 c->user ? (unsigned long long)c->ip[c->kernel] : 0);
		return;
	}
	k->user++;
	for (i = 0; i < c->kernel && symbols; i++) {
		in_read |= is_in(c->ip[i], "vfs_read");
		k->ours += is_in(c->ip[i], "tick") || is_in(c->ip[i], "kjoule") ||
			   is_in(c->ip[i], "__hrtimer_run");
	}
	k->in_read += in_read;
	k->ordered += in_read && c->kernel > 2 &&
		      is_in(c->ip[c->kernel - 1], "entry_SYSCALL_64") &&
		      is_in(c->ip[c->kernel - 2], "do_syscall_64");
}

#define BUFFER_BYTES	(1 << 20)

/* Made before: it takes the kernel some time, which is not to be sampled. */
static void *make_buffer(void)
{
	return mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
}

static void recurse_and_read(const void *buffer)
{
	enter(DEPTH, open("/dev/zero", O_RDONLY), (void *)buffer, BUFFER_BYTES);
}

static void check_kernel(void)
{
	struct kernel k = { 0 };
	bool good;

	if (!read_symbols()) {
		ktap_skip("a known path through the kernel",
			  "/proc/kallsyms shows no addresses: sysctl kernel.kptr_restrict=1");
		return;
	}
	good = sample_child("read", recurse_and_read, make_buffer(),
			    (struct nl_config){ .flags = CHAINS },
			    note_kernel, NULL, &k);

	ktap_check(good && k.seen >= ENOUGH / 2, "code of the kernel is sampled");
	ktap_check(10 * k.user >= 9 * k.seen, "from there user space's callers go on, from where it had left off");
	ktap_check(10 * k.in_read >= 8 * k.user, "read() is among the callers of what it does");
	ktap_check(k.ordered == k.in_read, "called by the system call's entry, the outermost");
	ktap_check_equal(0, k.ours, "the tick itself is not among them");
	ktap_diag("%u seen, %u with user frames, %u in read, %u ordered; %s", k.seen, k.user,
		  k.in_read, k.ordered, k.odd);
}

/*
 * Hidden addresses
 */

/* Without CAP_PERFMON and CAP_SYSLOG: whatever is in the mapped ring, no address of the kernel. */
static int look_for_addresses(void)
{
	struct kernel k = { 0 };
	unsigned int found = 0, i;
	struct nl_config config = { .interval_ns = 1000000, .target = KJOULE_TARGET_PROCESS,
				    .cpus = 1ULL << second, .energy = "", .frequency = "",
				    .flags = CHAINS | STACK };
	struct nl_session info;
	struct device d;

	config.pid = child_start(recurse_and_read, make_buffer());
	if (!caps_keep(CAP(CAP_SYS_ADMIN) | CAP(CAP_DAC_OVERRIDE) | CAP(CAP_DAC_READ_SEARCH) |
		       CAP(CAP_KILL)) ||
	    nl_open(&nl) || !session_begin(&nl, &config, &info, &d, walk)) {
		child_end(config.pid);
		return 1;
	}
	walk->on_chain = note_kernel;
	walk->data = &k;
	await(drain_map(&d, walk) >= 0 && k.seen >= 20 && k.user);
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	for (i = 0; i < d.ring[0].size; i += 8)
		found += *(const uint64_t *)(d.ring[0].data + i) >> 47 == 0x1ffff &&
			 *(const uint64_t *)(d.ring[0].data + i) < -4096ULL;
	child_end(config.pid);
	if (walk->fault[0] || !k.seen || k.hidden != k.seen || k.frames || !k.user || found)
		ktap_diag("%u kernel samples, %u hidden, %u kernel frames, %u with user frames, %u addresses: %s",
			  k.seen, k.hidden, k.frames, k.user, found, walk->fault);
	return walk->fault[0] || !k.seen || k.hidden != k.seen || k.frames || !k.user || found;
}

static void check_hidden(void)
{
	int status = 1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		int bad = look_for_addresses();

		fflush(stdout);
		_exit(bad);
	}
	waitpid(pid, &status, 0);
	ktap_check(!status, "who may not see kernel addresses gets user frames and none of the kernel's");
}

/*
 * What is refused, and what a session says of itself
 */

static void check_config(void)
{
	const struct {
		const char *what;
		uint64_t flags;
		uint32_t depth, bytes, ring;
		int err;
	} cases[] = {
		{ "an unknown flag next to known ones", CHAINS | 1ULL << 40, 0, 0, 0, EINVAL },
		{ "a depth without chains", STACK, 10, 0, 0, EINVAL },
		{ "bytes of the stack without stacks", CHAINS, 0, 4096, 0, EINVAL },
		{ "a chain deeper than a record", CHAINS, 1025, 0, 0, ERANGE },
		{ "a stack larger than a record", STACK, 0, 65392, 1 << 20, ERANGE },
		{ "half a word of the stack", STACK, 0, 4100, 0, EINVAL },
		{ "a ring that holds no stack", STACK, 0, 32768, 65536, EINVAL },
		{ "the deepest chain", CHAINS, 1024, 0, 1 << 20, 0 },
		{ "the largest stack", STACK, 0, 65384, 1 << 20, 0 },
	};
	struct nl_session s = { 0 };
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int err = nl_session_new(&nl, &(struct nl_config){
			.interval_ns = 1000000, .flags = cases[i].flags,
			.chain_depth = cases[i].depth, .stack_bytes = cases[i].bytes,
			.ring_bytes = cases[i].ring }, &s);

		if (!ktap_check(err == -cases[i].err && !err == !nl.why[0], "%s: %s", cases[i].what,
				cases[i].err ? strerrorname_np(cases[i].err) : "allowed"))
			ktap_diag("got %d %s", err, nl.why);
		if (!err)
			nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, s.id, NULL);
	}
	nl_session_new(&nl, &(struct nl_config){ .interval_ns = 1000000, .flags = CHAINS | STACK },
		       &s);
	ktap_check(s.flags == (CHAINS | STACK) && s.chain_depth == 127 && s.stack_bytes == 8192,
		   "a session tells its flags, and what was taken where nothing was said");
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, s.id, NULL);
}

/* A ring that is not read, then one that is read through read() by who has little room. */
static void check_full(void)
{
	static struct nl_stats stats[NL_MAX_CPUS];
	struct nl_config config = { .interval_ns = 500000, .ring_bytes = 32768,
				    .cpus = 1ULL << cpu_first() | 1ULL << second,
				    .flags = CHAINS | STACK, .stack_bytes = 2048 };
	pid_t pid = child_start(recurse_and_spin, NULL);
	uint64_t until = now_ns() + PATIENCE_NS;
	struct nl_session info;
	struct device d;
	uint64_t lost = 0;
	uint8_t small[1024];
	ssize_t got;
	unsigned int i;

	if (!session_begin(&nl, &config, &info, &d, walk))
		return;
	do {
		sleep_ms(10);
		nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	} while ((!stats[0].lost || !stats[1].lost) && now_ns() < until);
	ktap_check(stats[0].lost && stats[1].lost && stats_balance(&stats[0]) &&
		   stats_balance(&stats[1]),
		   "a ring full of stacks loses records, and counts them");
	/* now and then some room, so that samples, chains and stacks are lost apart */
	for (i = 0; i < 50; i++) {
		drain_map(&d, walk);
		sleep_ms(15);
	}
	nl_session_do(&nl, KJOULE_CMD_SESSION_STOP, info.id, &info);
	drain_map(&d, walk);
	check_stats("full of chains and stacks", &nl, &info, &d, walk);
	nl_stats(&nl, info.id, stats, NL_MAX_CPUS);
	for (i = 0; i < d.n; i++)
		lost += stats[i].lost;
	ktap_check(walk[1].chains && walk[1].stacks &&
		   walk[0].lost_records + walk[1].lost_records == lost,
		   "what was lost is reported, and chains go on after it");
	got = read(d.fd, small, sizeof(small));
	ktap_check(got < 0 && errno == EINVAL, "a read() that could never take a stack is refused");
	device_close(&d);
	nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, info.id, NULL);
	child_end(pid);
}

int main(void)
{
	caller_begin();
	check_config();
	check_user();
	check_kernel();
	check_full();
	check_hidden();
	return caller_end();
}
