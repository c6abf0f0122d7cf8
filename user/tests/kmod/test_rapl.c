// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module's pure parts, compiled here: what RAPL's registers mean, and narrow
 * counters made wide. The expected values are the manuals' (see
 * Documentation/sources.rst), worked out by hand.
 */

#include "../kmod/counter/counter.c"
#include "../kmod/source/rapl_decode.c"
#include "tests/support/unit.h"

static const struct kjoule_rapl_domain *find(const struct kjoule_rapl_domain *d, int n, u32 class)
{
	for (int i = 0; i < n; i++) {
		if (d[i].class == class)
			return &d[i];
	}
	fail_msg("no domain of class %u", class);
	return NULL;
}

static u64 uj_of(const struct kjoule_rapl_domain *d, u64 counts)
{
	return kjoule_counter_scale(counts, d->unit_mult, d->unit_shift);
}

/* Skylake client: unit register 0xa0e03, ESU 14: 61 uJ a count. */
TEST(intel_unit_is_a_power_of_two_of_a_joule)
{
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];
	int n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x5e, 0xa0e03, d);

	assert_int_equal(n, 5);
	assert_int_equal(kjoule_rapl_unit_msr(KJOULE_RAPL_INTEL), 0x606);
	assert_int_equal(find(d, n, PACKAGE)->msr, 0x611);
	assert_int_equal(find(d, n, CORE)->msr, 0x639);
	assert_int_equal(find(d, n, UNCORE)->msr, 0x641);
	assert_int_equal(find(d, n, DRAM)->msr, 0x619);
	assert_int_equal(find(d, n, PSYS)->msr, 0x64d);
	assert_int_equal(uj_of(find(d, n, PACKAGE), 1), 61);		/* 61.035 */
	assert_int_equal(uj_of(find(d, n, PACKAGE), 1 << 14), 1000000);
	assert_int_equal(uj_of(find(d, n, DRAM), 1 << 14), 1000000);
	assert_int_equal(find(d, n, CORE)->parent, PACKAGE);
	assert_int_equal(find(d, n, PACKAGE)->parent, PSYS);
}

TEST(server_dram_has_its_own_unit)
{
	static const u32 models[] = { 0x3f, 0x4f, 0x56, 0x55, 0x57, 0x85, 0x6a, 0x6c };
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];

	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		int n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, models[i], 0xa0e03, d);

		assert_int_equal(uj_of(find(d, n, DRAM), 1 << 16), 1000000);
		assert_int_equal(uj_of(find(d, n, PACKAGE), 1 << 14), 1000000);
	}
}

/* Linux commits 4c081324df56 and 80275ca9e525 for DRAM; turbostat's spr_features for psys. */
TEST(sapphire_rapids_counts_psys_in_joules_and_dram_in_the_unit)
{
	static const u32 models[] = { 0x8f, 0xcf, 0xad, 0xae };
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];

	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		int n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, models[i], 0xa0e03, d);

		assert_int_equal(uj_of(find(d, n, PSYS), 3), 3000000);
		assert_int_equal(uj_of(find(d, n, DRAM), 1 << 14), 1000000);
		assert_int_equal(uj_of(find(d, n, PACKAGE), 1 << 14), 1000000);
	}
}

/* Skylake client, Sierra Forest, Grand Ridge, Clearwater Forest. */
TEST(other_parts_count_all_in_the_unit)
{
	static const u32 models[] = { 0x5e, 0xaf, 0xb6, 0xdd };
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];

	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		int n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, models[i], 0xa0e03, d);

		assert_int_equal(uj_of(find(d, n, PSYS), 3), 183);
		assert_int_equal(uj_of(find(d, n, DRAM), 1 << 14), 1000000);
	}
}

/* Bay Trail: ESU 5 means 2^5 = 32 uJ a count. */
TEST(atom_unit_is_in_microjoule)
{
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];
	int n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x37, 0x00000505, d);

	assert_int_equal(uj_of(find(d, n, PACKAGE), 1), 32);
	assert_int_equal(uj_of(find(d, n, PACKAGE), 1000), 32000);
}

/* Zen: unit register 0xa1003, ESU 16: 15.3 uJ. Its core counter is per core and not taken. */
TEST(amd_has_registers_of_its_own)
{
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];
	int n = kjoule_rapl_decode(KJOULE_RAPL_AMD, 0x01, 0xa1003, d);

	assert_int_equal(n, 1);
	assert_int_equal(kjoule_rapl_unit_msr(KJOULE_RAPL_AMD), 0xc0010299);
	assert_int_equal(d[0].msr, 0xc001029b);
	assert_int_equal(uj_of(&d[0], 1 << 16), 1000000);
	/* an Intel model number among the exceptions means nothing here */
	n = kjoule_rapl_decode(KJOULE_RAPL_AMD, 0x37, 0xa1003, d);
	assert_int_equal(uj_of(&d[0], 1 << 16), 1000000);
}

TEST(unit_register_of_zero_is_no_rapl)
{
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];

	assert_int_equal(kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x5e, 0, d), -ENODEV);
	assert_int_equal(kjoule_rapl_decode(KJOULE_RAPL_AMD, 0x01, 0, d), -ENODEV);
}

TEST(wrap_time_follows_unit_and_power)
{
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];
	int n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x5e, 0xa0e03, d);

	/* 2^32 * 2^-14 J / 200 W = 1310.72 s; at 2^-16 a quarter */
	assert_int_equal(kjoule_rapl_wrap_ms(find(d, n, PACKAGE), 200000000), 1310720);
	n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x55, 0xa0e03, d);
	assert_int_equal(kjoule_rapl_wrap_ms(find(d, n, DRAM), 200000000), 327680);
	/* 1 J a count: the range is 2^32 J, and nothing overflows on the way */
	n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x8f, 0xa0e03, d);
	assert_true(kjoule_rapl_wrap_ms(find(d, n, PSYS), 200000000) == 21474836480ULL);
}

#define ANY	(~0ULL)		/* it may have counted anything */

/* As a meter does: by how much it has moved. */
static u64 add(struct kjoule_counter *c, u64 raw, u32 width)
{
	u64 counts = kjoule_counter_since(c, raw, width);

	kjoule_counter_add(c, raw, counts);
	return counts;
}

TEST(counter_goes_on_over_a_wrap)
{
	struct kjoule_counter c = { 0 };

	kjoule_counter_start(&c, 0xfffffff0);
	assert_int_equal(add(&c, 0xfffffff0, 32), 0);
	assert_int_equal(add(&c, 0x10, 32), 0x20);
	assert_int_equal(c.total, 0x20);
	/* more than half way round is still forward, not a step back */
	assert_true(add(&c, 0x0, 32) == 0xfffffff0);
	assert_true(c.total == 0x100000010);
}

TEST(counter_ignores_reserved_bits)
{
	struct kjoule_counter c = { 0 };

	kjoule_counter_start(&c, 0xdead000000000010);
	assert_int_equal(add(&c, 0xbeef000000000018, 32), 8);
	assert_int_equal(c.total, 8);
}

TEST(counter_may_have_any_width)
{
	for (u32 width = 1; width <= 64; width++) {
		u64 top = width == 64 ? ~0ULL : (1ULL << width) - 1;
		struct kjoule_counter c = { 0 };

		kjoule_counter_start(&c, top);
		assert_true(add(&c, 0, width) == 1);
		assert_true(add(&c, top, width) == top);
	}
}

/* More than that is taken for a reset of the hardware, so it must be as much as that. */
TEST(what_can_be_counted_follows_power_and_time)
{
	/* 100 W for 10 ms is 1 J, 2^16 counts */
	assert_in_range(kjoule_counter_max_counts(1000000, 16, 100000000, 10000000), 65536, 65538);
	/* a count of 1 J: one may have been on its way */
	assert_in_range(kjoule_counter_max_counts(1000000, 0, 100000000, 1000000), 1, 2);
	/* 2^-64 uJ a count: one microjoule are more than 64 bits hold */
	assert_true(kjoule_counter_max_counts(1, 64, 1, 1000000000) == ~0ULL);
	assert_in_range(kjoule_counter_max_counts(1ULL << 63, 64, 1000000, 1000000), 2000, 2003);
	/* what is beyond all bounds is anything */
	assert_true(kjoule_counter_max_counts(1, 0, ~0ULL, ~0ULL) == ~0ULL);
	assert_true(kjoule_counter_max_counts(~0ULL, 64, ~0ULL, 1) > 0);
	/* a reset of RAPL at 15 uJ a count, 10 ms after it last moved, from most of its values */
	assert_true(kjoule_counter_max_counts(1000000, 16, 16000000000, 10000000) < (1U << 24));
}

TEST(counter_with_a_range_goes_on_over_its_wrap)
{
	struct kjoule_counter c = { 0 };

	kjoule_counter_start(&c, 900);
	assert_true(kjoule_counter_add_range(&c, 999, 999, ANY));
	assert_int_equal(c.total, 99);
	/* one step from the end to 0 */
	assert_true(kjoule_counter_add_range(&c, 0, 999, ANY));
	assert_int_equal(c.total, 100);
	assert_true(kjoule_counter_add_range(&c, 0, 999, ANY));
	assert_int_equal(c.total, 100);
	/* more than half way round is still forward */
	assert_true(kjoule_counter_add_range(&c, 800, 999, ANY));
	assert_true(kjoule_counter_add_range(&c, 700, 999, ANY));
	assert_int_equal(c.total, 1800);
	/* powercap's: (2^32 - 1) counts of 61035 nJ, in microjoule */
	kjoule_counter_start(&c, 262143328850);
	c.total = 0;
	assert_true(kjoule_counter_add_range(&c, 10, 262143328850, 20));
	assert_int_equal(c.total, 11);
	/* so much it cannot have counted since: it was reset, and goes on from there */
	assert_true(kjoule_counter_add_range(&c, 1000000, 262143328850, 1));
	assert_false(kjoule_counter_add_range(&c, 20, 262143328850, 1000000));
	assert_true(c.last_raw == 20 && c.total == 1000001);
	assert_true(kjoule_counter_add_range(&c, 22, 262143328850, 1));
	assert_int_equal(c.total, 1000003);
}

TEST(counter_does_not_take_what_can_not_be)
{
	struct kjoule_counter c = { 0 };

	kjoule_counter_start(&c, 10);
	assert_true(kjoule_counter_add_range(&c, 20, 99, ANY));
	assert_false(kjoule_counter_add_range(&c, 100, 99, ANY));
	assert_true(c.last_raw == 20 && c.total == 10);
	/* without a range a step back is a reset: it goes on from there, and the total stays */
	assert_false(kjoule_counter_add_range(&c, 5, 0, ANY));
	assert_true(c.last_raw == 5 && c.total == 10);
	assert_true(kjoule_counter_add_range(&c, 8, 0, ANY));
	assert_int_equal(c.total, 13);
	/* the whole of 64 bits as a range */
	kjoule_counter_start(&c, ~0ULL - 1);
	c.total = 0;
	assert_true(kjoule_counter_add_range(&c, 1, ~0ULL, ANY));
	assert_int_equal(c.total, 3);
}

TEST(gauge_keeps_its_sign)
{
	assert_true(kjoule_gauge_scale(-3, 1000, 3) == -375);
	assert_true(kjoule_gauge_scale(3, 1000, 3) == 375);
	assert_true(kjoule_gauge_scale(-1, 1, 1) == 0);
	assert_true(kjoule_gauge_scale(INT64_MIN, 1, 0) == -INT64_MAX);
	assert_true(kjoule_gauge_scale(INT64_MIN, 1, 63) == -1);
	assert_true(kjoule_gauge_scale(INT64_MAX, 1000, 0) == INT64_MAX);
	assert_true(kjoule_gauge_scale(-INT64_MAX, ~0ULL, 64) == -(INT64_MAX - 1));
}

/* A machine of 1 kW for ten years is 3e17 uJ, 2e16 counts of 2^-16 J: no overflow on the way. */
TEST(scaling_does_not_overflow)
{
	assert_true(kjoule_counter_scale(20000000000000000ULL, 1000000, 16) ==
		    305175781250000000ULL);
	assert_true(kjoule_counter_scale(7, 1, 0) == 7);
	assert_true(kjoule_counter_scale(~0ULL, 1, 0) == ~0ULL);
	assert_true(kjoule_counter_scale(1ULL << 63, 2, 64) == 1);
}

TEST(scaling_ends_at_what_64_bits_hold)
{
	assert_true(kjoule_counter_scale(1ULL << 48, 1000000, 0) == ~0ULL);
	assert_true(kjoule_counter_scale(~0ULL, 1000000, 16) == ~0ULL);
	assert_true(kjoule_counter_scale(~0ULL, ~0ULL, 64) == ~0ULL - 1);
	assert_true(kjoule_counter_scale(~0ULL, ~0ULL, 63) == ~0ULL);
}

TEST(products_are_divided_whatever_their_size)
{
	static const u64 some[] = { 0, 1, 2, 3, 1000, 999999937, 1ULL << 32, (1ULL << 40) + 12345,
				    1ULL << 63, (1ULL << 63) + 7, ~0ULL - 1, ~0ULL };

	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(some); j++) {
			for (size_t k = 0; k < ARRAY_SIZE(some); k++) {
				unsigned __int128 want = (unsigned __int128)some[i] * some[j];

				want = some[k] ? want / some[k] : ~(unsigned __int128)0;
				assert_true(kjoule_counter_mul_div(some[i], some[j], some[k]) ==
					    (want >> 64 ? ~0ULL : (u64)want));
			}
		}
	}
}

/* 4 GHz against a reference of 3 GHz, not read for a millisecond, 19 minutes, a year. */
TEST(mean_frequency_is_right_after_any_time)
{
	static const u64 seconds[] = { 1, 19 * 60, 20 * 60, 365 * 86400 };

	assert_true(kjoule_counter_mean_khz(4000000, 3000000, 3000000) == 4000000);
	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++)
		assert_true(kjoule_counter_mean_khz(4000000000 * seconds[i],
						    3000000000 * seconds[i], 3000000) == 4000000);
}

/* How often an idle package is read follows from this, whatever a source says that it counts. */
TEST(time_to_a_wrap_ends_at_what_64_bits_hold)
{
	/* 2^32 * 2^-14 J at 200 W */
	assert_true(kjoule_counter_wrap_ns(32, 1000000, 14, 200000000) == 1310720000000ULL);
	/* 2^63 uJ at 100 W: 2,900 years; 2^60 uJ at 15 W: 2,400 years */
	assert_true(kjoule_counter_wrap_ns(63, 1, 0, 100000000) == ~0ULL);
	assert_true(kjoule_counter_wrap_ns(60, 1, 0, 15000000) == ~0ULL);
	/* 2^48 J at 1 kW and more than that */
	assert_true(kjoule_counter_wrap_ns(48, 1000000, 0, 1000000000) >= 1ULL << 63);
	assert_true(kjoule_counter_wrap_ns(64, 1, 64, ~0ULL) == ~0ULL);
	/* powercap's range on a server, at 1 kW */
	assert_true(kjoule_counter_range_ns(65532610987, 1, 0, 1000000000) == 65532610987);
	assert_true(kjoule_counter_range_ns(~0ULL, ~0ULL, 0, 1) == ~0ULL);
	for (u32 width = 1; width <= 64; width++) {
		for (u32 shift = 0; shift <= 64; shift++)
			assert_true(kjoule_counter_wrap_ns(width, ~0ULL, shift, 1) > 0);
	}
}
