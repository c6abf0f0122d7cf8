// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program whose file fuzzing of ELF begins with: functions, an alias, a weak one and a
 * local one. Never run.
 */
void _start(void);
int one(int x);
int two(int x);
int alias(int x) __attribute__((alias("one")));

static __attribute__((noinline)) int local(int x)
{
	return x * 3;
}

int one(int x)
{
	return local(x) + 1;
}

__attribute__((weak)) int two(int x)
{
	return one(x) + local(x);
}

__asm__(".globl label\nlabel: nop\n.size label, 0");

void _start(void)
{
	two(1);
}
