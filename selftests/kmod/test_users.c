// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No user locks the others out: without CAP_SYS_ADMIN each has 16 sessions and 16 sockets that
 * listen, and all of them together leave 16 of 64 to who has it. Who is refused reads who has how
 * many. With CAP_SYS_ADMIN any session can be ended, whatever its owner does with it meanwhile; the
 * owner and those that listen read who has ended it.
 *
 * where: guest
 * vm: --no-chip --cpus 2
 * timeout: 90
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ktap.h"
#include "guest.h"
#include "need.h"
#include "nl.h"
#include "ring.h"
#include "who.h"

#define ALL	64
#define A_USER	16
#define KEPT	16
#define USERS	((ALL - KEPT) / A_USER)
#define FIRST	4294967000u	/* uid of the first of them: as long as any */
#define WORDS_MOST	79	/* characters of words that newer kernels pass on */

static struct nl_session s[ALL + 1];
static struct nl_config config;
static unsigned int others;	/* sessions that were there before */

/* As another user who has CAP_PERFMON only, until as_root(). */
static bool as_user(uid_t uid)
{
	return !setresuid(-1, uid, -1) && caps_use(CAP(CAP_PERFMON) | FILES);
}

static bool as_root(void)
{
	return !setresuid(-1, 0, -1);
}

static int make(struct nl *who, struct nl_session *session)
{
	session->user = UINT32_MAX;
	return nl_session_new(who, &config, session);
}

/* As many as are let, up to all. */
static unsigned int fill(struct nl *who, struct nl_session *session, int *err)
{
	unsigned int n;

	for (n = 0, *err = 0; n < ALL && !*err; n += !*err)
		*err = make(who, &session[n]);
	return n;
}

static void check_words(const char *why, const char *const *want, const char *what)
{
	ktap_check(strlen(why) <= WORDS_MOST, "%s: no kernel cuts that", what);
	for (; *want; want++) {
		if (!strstr(why, *want)) {
			ktap_not_ok("%s", what);
			ktap_diag("\"%s\" lacks \"%s\"", why, *want);
			return;
		}
	}
	ktap_ok("%s", what);
}

static void check_sessions(void)
{
	static struct nl user[USERS + 1], root;
	static struct nl_session more[ALL + 1];
	const unsigned int places = ALL - KEPT - others;
	unsigned int i, n, all = 0;
	char most[64], own[64];
	int err;

	for (i = 0; i < USERS; i++) {
		unsigned int room = places - all < A_USER ? places - all : A_USER;

		if (!as_user(FIRST + i) || nl_open(&user[i])) {
			ktap_not_ok("becoming a user with CAP_PERFMON");
			return;
		}
		n = fill(&user[i], i ? more : s, &err);
		ktap_check_equal(room, n, "a user: so many sessions");
		check_errno(EUSERS, err, "a user", "one session more");
		if (!i)
			ktap_check_equal(FIRST, s[0].user, "a session says whose it is");
		all += n;
		as_root();
	}
	snprintf(own, sizeof(own), "you have %u of %u", A_USER, A_USER);
	snprintf(most, sizeof(most), "uid %u has most: %u", FIRST, A_USER);
	check_words(user[0].why, (const char *const []){ own, "sessions", most, NULL },
		    "a user who has all of his reads how many, and who has most");

	if (!as_user(FIRST + USERS) || nl_open(&user[USERS])) {
		ktap_not_ok("becoming one user more");
		return;
	}
	check_errno(EUSERS, make(&user[USERS], &more[0]), "a user without any",
		    "a session of those that are kept");
	check_words(user[USERS].why, (const char *const []){ "you have 0 of 16", most,
							     "all 48 of 64, 16 kept", NULL },
		    "a user without any reads that the others have all");
	check_errno(EPERM, nl_session_do(&user[USERS], KJOULE_CMD_SESSION_DEL, s[0].id, NULL), "another user",
		    "ending a session");
	as_root();
	if (nl_open(&root)) {
		ktap_not_ok("a socket of root's");
		return;
	}
	n = fill(&root, more, &err);
	ktap_check_equal(KEPT, n, "root: so many are kept");
	check_errno(EUSERS, err, "root", "one more than there can be");
	check_words(root.why, (const char *const []){ "all 64 of 64;", NULL },
		    "root reads that there are all");
	nl_close(&root);
	for (i = 0; i <= USERS; i++)
		nl_close(&user[i]);
	ktap_check_equal(others, session_count(), "all have ended with their sockets");
}

/* Only kernels since 6.11 or so pass on words of a refused dump. */
static void check_dump(struct nl *who, uint8_t cmd, uint16_t type, uint32_t id)
{
	struct nlmsghdr *request = nl_request(who, cmd, NLM_F_DUMP);

	mnl_attr_put_u32(request, type, id);
	check_errno(ENOENT, nl_talk(who, request, NULL, NULL), "the owner", "a dump of it");
	if (who->why[0])
		check_words(who->why, (const char *const []){ "ended by uid 0", NULL },
			    "a dump reads who has ended it");
	else
		ktap_skip("a dump reads who has ended it",
			  "this kernel passes on no words of a refused dump");
}

/*
 * As many more as a user may have, so that what was remembered of the first is still to be known.
 */
static void check_ended_besides(struct nl *root)
{
	struct nl_session more;
	struct nl another;
	unsigned int i, bad = 0;

	if (nl_open(&another)) {
		ktap_not_ok("another socket of root's");
		return;
	}
	for (i = 0; i < A_USER; i++)
		bad += make(&another, &more) ||
		       nl_session_do(root, KJOULE_CMD_SESSION_DEL, more.id, NULL);
	ktap_check_equal(0, bad, "root ends as many more");
	nl_close(&another);
}

/* What the owner and others see of a session that root has ended. */
static void check_ended(void)
{
	struct nl user, root, listener;
	struct notice n = { .event = 0 };
	struct nl_session more;
	struct pollfd p;
	struct device d;
	int err;

	if (!as_user(FIRST) || nl_open(&user) || nl_open(&listener) || notice_listen(&listener) ||
	    fill(&user, s, &err) != A_USER ||
	    nl_session_do(&user, KJOULE_CMD_SESSION_START, s[0].id, NULL) ||
	    device_open(&d, s[0].id)) {
		ktap_not_ok("sessions of a user");
		return;
	}
	if (!as_root() || nl_open(&root)) {
		ktap_not_ok("a socket of root's");
		return;
	}
	check_errno(EPERM, nl_session_do(&root, KJOULE_CMD_SESSION_STOP, s[0].id, NULL), "root",
		    "stopping a session of a user, who may go on with it");
	check_errno(0, nl_session_do(&root, KJOULE_CMD_SESSION_DEL, s[0].id, NULL), "root",
		    "ending a session of a user");
	check_ended_besides(&root);
	while (notice_wait(&listener, &n, 2000) == 1 && n.event != KJOULE_EVENT_SESSION_ENDED)
		;
	ktap_check(n.event == KJOULE_EVENT_SESSION_ENDED && n.session == s[0].id && n.user == 0,
		   "listeners are notified who ended it");
	if (!as_user(FIRST)) {
		ktap_not_ok("becoming the owner again");
		return;
	}
	p = (struct pollfd){ .fd = d.fd };
	ktap_check(poll(&p, 1, 2000) == 1 && p.revents == POLLHUP, "its reader gets the end of the data");
	device_close(&d);
	check_errno(ENOENT, nl_session_do(&user, KJOULE_CMD_SESSION_STOP, s[0].id, NULL),
		    "the owner", "stopping it");
	check_words(user.why, (const char *const []){ "ended by uid 0", NULL },
		    "the owner reads who has ended it");
	check_dump(&user, KJOULE_CMD_RECORDS_GET, KJOULE_A_RECORDS_SESSION, s[0].id);
	check_dump(&user, KJOULE_CMD_STATS_GET, KJOULE_A_STATS_SESSION, s[0].id);
	check_errno(0, make(&user, &more), "the owner", "another session instead");
	check_errno(0, nl_session_do(&user, KJOULE_CMD_SESSION_DEL, s[1].id, NULL), "the owner",
		    "ending his own");
	n.event = 0;
	while (notice_wait(&listener, &n, 2000) == 1 &&
	       (n.event != KJOULE_EVENT_SESSION_ENDED || n.session != s[1].id))
		;
	ktap_check(n.session == s[1].id && n.user == UINT32_MAX, "that its owner has ended it names no user");
	nl_session_do(&user, KJOULE_CMD_SESSION_GET, s[1].id, NULL);
	ktap_check(!strstr(user.why, "ended by"), "nor do the words of later requests");
	as_root();
	nl_close(&user);
	nl_close(&root);
	nl_close(&listener);
}

static void check_listeners(void)
{
	static struct nl user[A_USER + 1], another;
	unsigned int i, n = 0;
	char most[64];

	if (!as_user(FIRST)) {
		ktap_not_ok("becoming a user with CAP_PERFMON");
		return;
	}
	for (i = 0; i <= A_USER; i++)
		n += !nl_open(&user[i]) && !notice_listen(&user[i]);
	ktap_check_equal(A_USER, n, "a user: so many sockets listen");
	snprintf(most, sizeof(most), "uid %u has most: %u", FIRST, A_USER);
	check_words(user[A_USER].why,
		    (const char *const []){ "you have 16 of 16 listeners", most, NULL },
		    "one more reads who has how many");
	as_root();
	if (as_user(FIRST + 1) && !nl_open(&another))
		check_errno(0, notice_listen(&another), "another user", "listening");
	else
		ktap_not_ok("becoming another user");
	as_root();
	nl_close(&another);
	for (i = 0; i <= A_USER; i++)
		nl_close(&user[i]);
}

#define ROUNDS	200

static uint32_t stress_id;

static void *end_it(void *arg)
{
	uint32_t id;

	(void)arg;
	while ((id = __atomic_load_n(&stress_id, __ATOMIC_ACQUIRE)) != UINT32_MAX) {
		if (id)
			nl_session_do(&nl, KJOULE_CMD_SESSION_DEL, id, NULL);
	}
	return NULL;
}

/* Whatever the owner does, it works or the session is gone; and nothing is left. */
static void check_race(void)
{
	static const uint8_t steps[] = { KJOULE_CMD_SESSION_START, KJOULE_CMD_SESSION_GET,
					 KJOULE_CMD_SESSION_STOP, KJOULE_CMD_SESSION_DEL };
	unsigned int i, step, odd = 0, ended = 0;
	struct nl owner;
	pthread_t t;

	if (nl_open(&owner) || nl_open(&nl) || pthread_create(&t, NULL, end_it, NULL)) {
		ktap_not_ok("two who end the same session");
		return;
	}
	/* a busy machine may let only one of the two run for long: go on until they have met */
	for (i = 0; i < ROUNDS || (ended <= ROUNDS / 4 && i < 20 * ROUNDS); i++) {
		struct nl_session mine;
		struct device d;
		int err = make(&owner, &mine);

		odd += err != 0;
		if (i % 2)
			__atomic_store_n(&stress_id, mine.id, __ATOMIC_RELEASE);
		err = device_open(&d, mine.id);
		odd += err && err != -ENOENT;
		for (step = 0; step < sizeof(steps); step++) {
			int done = nl_session_do(&owner, steps[step], mine.id, NULL);

			/* the other one comes at any time within these */
			for (uint64_t end = now_ns() + i % 20 * 10000; now_ns() < end;)
				;
			if (!(i % 2) && !step)
				__atomic_store_n(&stress_id, mine.id, __ATOMIC_RELEASE);
			/* whenever it ends, the owner reads that, and by whom */
			odd += done && (done != -ENOENT || !strstr(owner.why, "ended by uid 0"));
			ended += done == -ENOENT;
		}
		if (!err)
			device_close(&d);
		__atomic_store_n(&stress_id, 0, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&stress_id, UINT32_MAX, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
	ktap_check_equal(0, odd, "a session that another one ends works or is gone");
	if (!ktap_check(ended > ROUNDS / 4, "some were ended in between"))
		ktap_diag("%u requests in %u rounds found that", ended, i);
	nl_close(&owner);
	nl_close(&nl);
	ktap_check_equal(others, session_count(), "no session is left");
}

int main(void)
{
	need_module();
	need_root();
	config = (struct nl_config){ .interval_ns = 1000000, .ring_bytes = 4096, .energy = "",
				     .frequency = "", .cpus = 1ULL << cpu_first() };
	others = session_count();
	if (others > KEPT) {
		ktap_skip("sessions of several users", "there are too many already: end them");
		return ktap_end();
	}
	check_sessions();
	check_ended();
	check_listeners();
	check_race();
	return ktap_end();
}
