// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module's pure parts, compiled here: what RAPL's registers mean, and narrow
 * counters made wide. The expected values are the manuals' (see
 * Documentation/sources.rst), worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "../../kmod/counter.c"
#include "../../kmod/source/rapl_decode.c"

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
static void intel_unit_is_a_power_of_two_of_a_joule(void **state)
{
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];
	int n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x5e, 0xa0e03, d);

	(void)state;
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

static void server_dram_has_its_own_unit(void **state)
{
	static const u32 models[] = { 0x3f, 0x4f, 0x56, 0x55, 0x57, 0x85, 0x6a, 0x6c, 0x8f, 0xcf };
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		int n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, models[i], 0xa0e03, d);

		assert_int_equal(uj_of(find(d, n, DRAM), 1 << 16), 1000000);
		assert_int_equal(uj_of(find(d, n, PACKAGE), 1 << 14), 1000000);
	}
}

static void sapphire_rapids_psys_counts_joules(void **state)
{
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];
	int n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x8f, 0xa0e03, d);

	(void)state;
	assert_int_equal(uj_of(find(d, n, PSYS), 3), 3000000);
	n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x5e, 0xa0e03, d);
	assert_int_equal(uj_of(find(d, n, PSYS), 3), 183);
}

/* Bay Trail: ESU 5 means 2^5 = 32 uJ a count. */
static void atom_unit_is_in_microjoule(void **state)
{
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];
	int n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x37, 0x00000505, d);

	(void)state;
	assert_int_equal(uj_of(find(d, n, PACKAGE), 1), 32);
	assert_int_equal(uj_of(find(d, n, PACKAGE), 1000), 32000);
}

/* Zen: unit register 0xa1003, ESU 16: 15.3 uJ. Its core counter is per core and not taken. */
static void amd_has_registers_of_its_own(void **state)
{
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];
	int n = kjoule_rapl_decode(KJOULE_RAPL_AMD, 0x01, 0xa1003, d);

	(void)state;
	assert_int_equal(n, 1);
	assert_int_equal(kjoule_rapl_unit_msr(KJOULE_RAPL_AMD), 0xc0010299);
	assert_int_equal(d[0].msr, 0xc001029b);
	assert_int_equal(uj_of(&d[0], 1 << 16), 1000000);
	/* an Intel model number among the exceptions means nothing here */
	n = kjoule_rapl_decode(KJOULE_RAPL_AMD, 0x37, 0xa1003, d);
	assert_int_equal(uj_of(&d[0], 1 << 16), 1000000);
}

static void unit_register_of_zero_is_no_rapl(void **state)
{
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];

	(void)state;
	assert_int_equal(kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x5e, 0, d), -ENODEV);
	assert_int_equal(kjoule_rapl_decode(KJOULE_RAPL_AMD, 0x01, 0, d), -ENODEV);
}

static void wrap_time_follows_unit_and_power(void **state)
{
	struct kjoule_rapl_domain d[KJOULE_RAPL_DOMAINS];
	int n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x5e, 0xa0e03, d);

	(void)state;
	/* 2^32 * 2^-14 J / 200 W = 1310.72 s; at 2^-16 a quarter */
	assert_int_equal(kjoule_rapl_wrap_ms(find(d, n, PACKAGE), 200000000), 1310720);
	n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x55, 0xa0e03, d);
	assert_int_equal(kjoule_rapl_wrap_ms(find(d, n, DRAM), 200000000), 327680);
	/* 1 J a count: the range is 2^32 J, and nothing overflows on the way */
	n = kjoule_rapl_decode(KJOULE_RAPL_INTEL, 0x8f, 0xa0e03, d);
	assert_true(kjoule_rapl_wrap_ms(find(d, n, PSYS), 200000000) == 21474836480ULL);
}

static void counter_goes_on_over_a_wrap(void **state)
{
	struct kjoule_counter c;

	(void)state;
	kjoule_counter_start(&c, 0xfffffff0);
	assert_int_equal(kjoule_counter_add(&c, 0xfffffff0, 32), 0);
	assert_int_equal(kjoule_counter_add(&c, 0x10, 32), 0x20);
	assert_int_equal(c.total, 0x20);
	/* more than half way round is still forward, not a step back */
	assert_true(kjoule_counter_add(&c, 0x0, 32) == 0xfffffff0);
	assert_true(c.total == 0x100000010);
}

static void counter_ignores_reserved_bits(void **state)
{
	struct kjoule_counter c;

	(void)state;
	kjoule_counter_start(&c, 0xdead000000000010);
	assert_int_equal(kjoule_counter_add(&c, 0xbeef000000000018, 32), 8);
	assert_int_equal(c.total, 8);
}

static void counter_may_have_any_width(void **state)
{
	(void)state;
	for (u32 width = 1; width <= 64; width++) {
		u64 top = width == 64 ? ~0ULL : (1ULL << width) - 1;
		struct kjoule_counter c;

		kjoule_counter_start(&c, top);
		assert_true(kjoule_counter_add(&c, 0, width) == 1);
		assert_true(kjoule_counter_add(&c, top, width) == top);
	}
}

/* A machine of 1 kW for ten years is 3e17 uJ, 2e16 counts of 2^-16 J: no overflow on the way. */
static void scaling_does_not_overflow(void **state)
{
	(void)state;
	assert_true(kjoule_counter_scale(20000000000000000ULL, 1000000, 16) == 305175781250000000ULL);
	assert_true(kjoule_counter_scale(7, 1, 0) == 7);
	assert_true(kjoule_counter_scale(~0ULL, 1, 0) == ~0ULL);
	assert_true(kjoule_counter_scale(1ULL << 63, 2, 64) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intel_unit_is_a_power_of_two_of_a_joule),
		cmocka_unit_test(server_dram_has_its_own_unit),
		cmocka_unit_test(sapphire_rapids_psys_counts_joules),
		cmocka_unit_test(atom_unit_is_in_microjoule),
		cmocka_unit_test(amd_has_registers_of_its_own),
		cmocka_unit_test(unit_register_of_zero_is_no_rapl),
		cmocka_unit_test(wrap_time_follows_unit_and_power),
		cmocka_unit_test(counter_goes_on_over_a_wrap),
		cmocka_unit_test(counter_ignores_reserved_bits),
		cmocka_unit_test(counter_may_have_any_width),
		cmocka_unit_test(scaling_does_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
