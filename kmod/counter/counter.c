// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raw counters widened to 64 bits; see counter.h. A wrap is detected if the counter is read at
 * least once in the time that it takes to wrap. All functions run in any context; the caller
 * serialises.
 */
#include "counter/counter.h"

/**
 * kjoule_counter_start() - begin to count at a raw value
 * @c:		zeroed, or to continue after a hardware reset
 * @raw:	the current raw value
 */
void kjoule_counter_start(struct kjoule_counter *c, u64 raw)
{
	c->last_raw = raw;
}

/*
 * kjoule_counter_max_counts() - upper limit of what a counter can have counted in @time_ns at
 * @power_uw, rounded up; U64_MAX for no limit. More is not a wrap: the hardware was reset.
 */
u64 kjoule_counter_max_counts(u64 mult, u32 shift, u64 power_uw, u64 time_ns)
{
	u64 uj = kjoule_counter_mul_div(power_uw, time_ns, 1000000000);
	u64 counts;

	if (uj == ~0ULL)
		return uj;
	if (shift < 64)
		counts = kjoule_counter_mul_div(uj + 1, 1ULL << shift, mult);
	else
		counts = kjoule_counter_mul_div(uj + 1, 1ULL << 63, mult / 2);
	return counts == ~0ULL ? counts : counts + 1;
}

/**
 * kjoule_counter_add_range() - add a raw value of a counter with a range
 * @c:		the counter
 * @raw:	the current raw value
 * @range:	it wraps to 0 after this value; 0: it never wraps
 * @most:	upper limit of the counts since the value before
 *
 * A value beyond the range is ignored. A value below the one before, without a range or by more
 * than a wrap explains, is a reset: counting continues from it, and what it had counted is lost.
 * Return: false for such a value
 */
bool kjoule_counter_add_range(struct kjoule_counter *c, u64 raw, u64 range, u64 most)
{
	u64 counts = raw - c->last_raw;
	bool reset = false;

	if (range && raw > range)
		return false;
	if (raw < c->last_raw) {
		counts = range - c->last_raw + raw + 1;
		reset = !range || counts > most;
	}
	c->last_raw = raw;
	if (!reset)
		c->total += counts;
	return !reset;
}

/** kjoule_counter_scale() - raw counts in microjoule, rounded down; U64_MAX on overflow */
u64 kjoule_counter_scale(u64 counts, u64 mult, u32 shift)
{
	unsigned __int128 value = ((unsigned __int128)counts * mult) >> shift;

	return value >> 64 ? ~0ULL : (u64)value;
}

/*
 * kjoule_counter_mul_div() - a * b / divisor with a 128-bit product. @divisor: any; 0 gives
 * U64_MAX. The kernel's own mul_u64_u64_div_u64() faults on x86 if the result overflows, and the
 * kernel has no 128-bit division. Slow if the product exceeds 64 bits. Return: the quotient,
 * rounded down; U64_MAX on overflow.
 */
u64 kjoule_counter_mul_div(u64 a, u64 b, u64 divisor)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	u64 rest = product >> 64, low = product, quotient = 0;
	unsigned int i;

	if (rest >= divisor)
		return ~0ULL;
	if (!rest)
		return low / divisor;
	for (i = 0; i < 64; i++) {
		bool over = rest >> 63;

		rest = rest << 1 | low >> 63;
		low <<= 1;
		quotient <<= 1;
		if (over || rest >= divisor) {
			rest -= divisor;
			quotient |= 1;
		}
	}
	return quotient;
}

/** kjoule_counter_range_ns() - time to @counts at @power_uw; U64_MAX on overflow */
u64 kjoule_counter_range_ns(u64 counts, u64 mult, u32 shift, u64 power_uw)
{
	return kjoule_counter_mul_div(kjoule_counter_scale(counts, mult, shift), 1000000000,
				      power_uw);
}

/** kjoule_counter_wrap_ns() - time to a wrap at @power_uw; U64_MAX if never, or on overflow */
u64 kjoule_counter_wrap_ns(u32 width, u64 mult, u32 shift, u64 power_uw)
{
	if (width >= 64)
		return ~0ULL;
	return kjoule_counter_range_ns(1ULL << width, mult, shift, power_uw);
}

/** kjoule_gauge_scale() - @raw in its quantity's unit, rounded towards 0 and saturated */
s64 kjoule_gauge_scale(s64 raw, u64 mult, u32 shift)
{
	u64 size = raw < 0 ? -(u64)raw : (u64)raw, most = ~0ULL >> 1;
	u64 high = ((unsigned __int128)size * mult) >> shift >> 63;
	u64 value = ((unsigned __int128)size * mult) >> shift;

	if (high)
		value = most;
	return raw < 0 ? -(s64)value : (s64)value;
}
