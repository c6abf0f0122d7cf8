// SPDX-License-Identifier: GPL-2.0-or-later
/* The program of Documentation/tutorial.rst, after the change. */
#include <math.h>
#include <stdio.h>

#define RECORDS		400000
#define CUSTOMERS	64

static struct {
	unsigned int id, customer, amount, pad;
} record[RECORDS];
static unsigned int customers[CUSTOMERS];
static double total[CUSTOMERS];

static void read_records(unsigned int seed)
{
	for (int i = 0; i < RECORDS; i++) {
		seed = seed * 1664525 + 1013904223;
		record[i].id = 1000 + 7 * (seed >> 26);
		record[i].amount = seed >> 8;
	}
}

static void find_customers(void)
{
	for (int i = 0; i < RECORDS; i++) {
		unsigned int c = (record[i].id - 1000) / 7;

		record[i].customer = c;
	}
}

static void add_up(void)
{
	for (int i = 0; i < RECORDS; i++)
		total[record[i].customer] += sqrt(record[i].amount) / 3;
}

int main(void)
{
	double sum = 0;

	for (int i = 0; i < CUSTOMERS; i++)
		customers[i] = 1000 + 7 * i;
	for (unsigned int day = 1; day <= 8; day++) {
		read_records(day);
		find_customers();
		add_up();
	}
	for (int i = 0; i < CUSTOMERS; i++)
		sum += total[i];
	printf("%.0f\n", sum);
	return 0;
}
