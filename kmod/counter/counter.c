// SPDX-License-Identifier: GPL-2.0-only
/*
 * Narrow counters made wide; see counter.h. A wrap is seen as long as the
 * counter is read at least once in the time that it takes to go round.
 */
#include "counter/counter.h"

/**
 * kjoule_counter_start() - count from a raw value on
 * @c:		the counter, zeroed, or to go on after the hardware was reset
 * @raw:	the raw value from which counts are added to the total
 *
 * Context: any.
 */
void kjoule_counter_start(struct kjoule_counter *c, u64 raw)
{
	c->last_raw = raw;
}

/**
 * kjoule_counter_max_counts() - what a counter can have counted in some time
 * @mult:	numerator of its unit
 * @shift:	the unit is @mult / 2^@shift microjoule, at most 64
 * @power_uw:	at this power
 * @time_ns:	in this time
 *
 * More than that is no wrap: the hardware was reset.
 *
 * Context: any.
 * Return: raw counts, rounded up; U64_MAX for any number.
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
 * kjoule_counter_add_range() - take in a new raw value of a counter with a range
 * @c:		the counter
 * @raw:	what it shows now
 * @range:	it goes from 0 to this and from 0 again; 0: it never goes round
 * @most:	more than this it has not counted since the value before
 *
 * A value beyond the range is not taken in. A value below the one before, without a range to go
 * round, or too far below to have gone round since, is where the counter goes on from: it was
 * reset, and what it had counted is lost.
 *
 * Context: any; the caller serialises.
 * Return: false if the value cannot be, as above.
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

/**
 * kjoule_counter_scale() - raw counts in microjoule
 * @counts:	raw counts
 * @mult:	numerator of the unit
 * @shift:	the unit is @mult / 2^@shift microjoule, at most 64
 *
 * Context: any.
 * Return: microjoule, rounded down; U64_MAX where 64 bits do not hold it.
 */
u64 kjoule_counter_scale(u64 counts, u64 mult, u32 shift)
{
	unsigned __int128 value = ((unsigned __int128)counts * mult) >> shift;

	return value >> 64 ? ~0ULL : (u64)value;
}

/**
 * kjoule_counter_mul_div() - a * b / divisor without a limit to what is in between
 * @a:		any
 * @b:		any
 * @divisor:	any; 0 is taken for something very small
 *
 * The kernel's own mul_u64_u64_div_u64() faults on x86 where 64 bits do not hold the result, and
 * 128 bits are not divided in the kernel. Slow where 64 bits do not hold the product.
 *
 * Context: any.
 * Return: the quotient, rounded down; U64_MAX where 64 bits do not hold it.
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

/**
 * kjoule_counter_range_ns() - how long a counter takes to count so far
 * @counts:	raw counts
 * @mult:	numerator of its unit
 * @shift:	the unit is @mult / 2^@shift microjoule, at most 64
 * @power_uw:	at this power
 *
 * Context: any.
 * Return: nanoseconds; U64_MAX for more than 64 bits hold.
 */
u64 kjoule_counter_range_ns(u64 counts, u64 mult, u32 shift, u64 power_uw)
{
	return kjoule_counter_mul_div(kjoule_counter_scale(counts, mult, shift), 1000000000,
				      power_uw);
}

/**
 * kjoule_counter_wrap_ns() - how long a counter takes to go round
 * @width:	valid bits of it
 * @mult:	numerator of its unit
 * @shift:	the unit is @mult / 2^@shift microjoule, at most 64
 * @power_uw:	at this power
 *
 * Context: any.
 * Return: nanoseconds; U64_MAX for a counter of 64 bits, and for more than 64 bits hold.
 */
u64 kjoule_counter_wrap_ns(u32 width, u64 mult, u32 shift, u64 power_uw)
{
	if (width >= 64)
		return ~0ULL;
	return kjoule_counter_range_ns(1ULL << width, mult, shift, power_uw);
}

/**
 * kjoule_gauge_scale() - a momentary value in its quantity's unit
 * @raw:	as the source gives it
 * @mult:	numerator of the unit
 * @shift:	the unit is @mult / 2^@shift, at most 64
 *
 * Context: any.
 * Return: the value, rounded towards 0; the nearest that 64 bits hold where it does not fit.
 */
s64 kjoule_gauge_scale(s64 raw, u64 mult, u32 shift)
{
	u64 size = raw < 0 ? -(u64)raw : (u64)raw, most = ~0ULL >> 1;
	u64 high = ((unsigned __int128)size * mult) >> shift >> 63;
	u64 value = ((unsigned __int128)size * mult) >> shift;

	if (high)
		value = most;
	return raw < 0 ? -(s64)value : (s64)value;
}
