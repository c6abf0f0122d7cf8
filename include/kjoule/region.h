/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regions: a program says which phase of its work a thread is in, and `kjoule report` tells
 * what each phase has cost. For programs in C and C++; link with libkjoule-region.a, which needs
 * the C library and nothing else. See kjoule_region(3).
 *
 *	kjoule_region_begin("assemble");
 *	...
 *	kjoule_region_end();
 *
 * Regions are a thread's own and nest: what is begun inside of "solve" as "assemble" is
 * "solve/assemble". A child of fork(2) is in the region in which it was forked; a new thread, and a
 * program that is executed, are in none.
 *
 * Without `kjoule record` the calls return at once: a test of one variable. While it records, a
 * call takes some tens of nanoseconds, most of them for the clock; it never waits, allocates
 * nothing after a thread's first one and leaves errno alone. What does not arrive in time is lost,
 * counted and shown by the report.
 */
#ifndef KJOULE_REGION_H
#define KJOULE_REGION_H

#ifdef __cplusplus
extern "C" {
#endif

#define KJOULE_REGION_NAME_MAX	63	/* bytes of a name that are kept */
#define KJOULE_REGION_DEPTH_MAX	32	/* regions in each other */
#define KJOULE_REGION_PATHS_MAX	511	/* of a thread, by the names around them as well */

/* For the functions below. Not 0: a recorder may be running. */
extern int kjoule_region_wanted;
void kjoule_region_do_begin(const char *name);
void kjoule_region_do_end(void);

/**
 * kjoule_region_begin() - the calling thread begins a region, inside of the one that it is in
 * @name:	what the report calls it, in UTF-8; copied, cut after KJOULE_REGION_NAME_MAX bytes.
 *		A "/" in it looks like a region in another one. NULL and "" are "[unnamed]"
 *
 * Each call has its kjoule_region_end(), in the same thread. Of regions deeper than
 * KJOULE_REGION_DEPTH_MAX, and of more than KJOULE_REGION_PATHS_MAX different ones, the time stays
 * with the one around; the report tells how many these were.
 *
 * Context: any thread; signal handlers where the thread has marked something before. Not between
 * vfork(2) and exec.
 */
static inline void kjoule_region_begin(const char *name)
{
	if (__builtin_expect(__atomic_load_n(&kjoule_region_wanted, __ATOMIC_RELAXED), 0))
		kjoule_region_do_begin(name);
}

/**
 * kjoule_region_end() - the calling thread ends the region that it began last
 *
 * Without one it changes nothing, and the report tells how often that was.
 *
 * Context: as kjoule_region_begin()
 */
static inline void kjoule_region_end(void)
{
	if (__builtin_expect(__atomic_load_n(&kjoule_region_wanted, __ATOMIC_RELAXED), 0))
		kjoule_region_do_end();
}

/**
 * kjoule_region_recorded() - are this process's regions recorded?
 *
 * For who would have to work for a name: kjoule_region_begin() can be called without asking.
 *
 * Return: 1 if they are, 0 if not
 */
int kjoule_region_recorded(void);

#ifdef __cplusplus
}

namespace kjoule {

/* The rest of a block: { kjoule::region r("assemble"); ... } */
class region {
public:
	explicit region(const char *name) { kjoule_region_begin(name); }
	~region() { kjoule_region_end(); }
	region(const region &) = delete;
	region &operator=(const region &) = delete;
};

} /* namespace kjoule */
#endif

#endif /* KJOULE_REGION_H */
