/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who had mapped what, and was called what, at which moment: the side band made
 * into something that can be asked.
 */
#ifndef KJOULE_MAPS_H
#define KJOULE_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct kjoule_maps;

/* A mapping; @path lives as long as the side band's buffer. */
struct kjoule_map {
	uint64_t start, len, offset;
	uint64_t time_ns;	/* since when */
	const char *path;
};

/**
 * kjoule_maps_new() - from raw side band records, in any order
 * @skipped: out: bytes behind damage that could not be read
 * Return: 0 or -ENOMEM. @records must stay as long as the maps.
 */
int kjoule_maps_new(const void *records, size_t len, struct kjoule_maps **maps, size_t *skipped);
/** kjoule_maps_find() - the mapping around @ip in process @pid at @time_ns, or NULL */
const struct kjoule_map *kjoule_maps_find(const struct kjoule_maps *maps, uint32_t pid,
					  uint64_t time_ns, uint64_t ip);
/**
 * kjoule_maps_space() - which address space that is: another one after a fork or an exec
 * Return: a number, 0 if nothing is known of the process
 */
uint64_t kjoule_maps_space(const struct kjoule_maps *maps, uint32_t pid, uint64_t time_ns);
/**
 * kjoule_maps_layout() - which mappings those are: another number once something more is mapped, or after a fork or an exec, so that what
 *			  was found at an address still holds as long as the number is the same
 * Return: 0 if nothing is known of the process
 */
uint32_t kjoule_maps_layout(const struct kjoule_maps *maps, uint32_t pid, uint64_t time_ns);
/** kjoule_maps_quiet() - around @time_ns nothing is told of any process from @from up to @until */
void kjoule_maps_quiet(const struct kjoule_maps *m, uint64_t time_ns, uint64_t *from, uint64_t *until);
/**
 * kjoule_maps_program() - the file that a process ran: the one that its last exec has mapped, as programs that only begin others
 *	(taskset, nice, env, a shell's exec) do so by an exec
 * Return: its path, or NULL if that is not known
 */
const char *kjoule_maps_program(const struct kjoule_maps *maps, uint32_t pid);
/** kjoule_maps_comm() - the name of a thread at @time_ns, NULL if never told */
const char *kjoule_maps_comm(const struct kjoule_maps *maps, uint32_t pid, uint32_t tid,
			     uint64_t time_ns);
void kjoule_maps_free(struct kjoule_maps *maps);

#endif /* KJOULE_MAPS_H */
