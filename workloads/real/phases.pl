#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Work for an interpreter, in phases of a quarter to half a second: phases.pl SECONDS SEED.
use strict;
use warnings;
use Time::HiRes qw(time);

my ($seconds, $seed) = @ARGV;
srand($seed);
my $end = time + $seconds;
my @numbers = map { int rand 1 << 30 } 1 .. 2000;
my @words = map { join "", map { chr 97 + int rand 8 } 1 .. 2 + int rand 6 } 1 .. 1500;
my $text = join " ", @words;
my @phases = (
	sub { my $x = 0.3; $x = 3.7 * $x * (1 - $x) for 1 .. 500; },
	sub { my @sorted = sort { $a <=> $b } @numbers; },
	sub { my $n = () = $text =~ /(?:a|b)+[^ ]*c [d-g]+h?/g; },
	sub { my %count; $count{$_}++ for @words; },
	sub { my $packed = join "", map { sprintf "%08x,", $_ } @numbers[0 .. 400]; },
);
while (time < $end) {
	for my $phase (sort { rand() <=> 0.5 } @phases) {
		my $until = time + 0.25 + rand 0.25;
		$phase->() while time < $until;
	}
}
