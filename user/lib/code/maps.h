/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings and names of processes over time: the sideband records, indexed. */
#ifndef KJOULE_MAPS_H
#define KJOULE_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct kjoule_maps;

/* A mapping; @path lives as long as the sideband buffer. */
struct kjoule_map {
	uint64_t start, len, offset;
	uint64_t time_ns;	/* since when */
	const char *path;
};

/**
 * kjoule_maps_new() - from raw sideband records, in any order
 * @skipped: out: unreadable bytes after damage
 * Return: 0 or -ENOMEM. @records must stay as long as the maps.
 */
int kjoule_maps_new(const void *records, size_t len, struct kjoule_maps **maps, size_t *skipped);
/** kjoule_maps_find() - the mapping around @ip in process @pid at @time_ns, or NULL */
const struct kjoule_map *kjoule_maps_find(const struct kjoule_maps *maps, uint32_t pid,
					  uint64_t time_ns, uint64_t ip);
/**
 * kjoule_maps_space() - number of the address space: another one after a fork or an exec
 * Return: 0 if nothing is known of the process
 */
uint64_t kjoule_maps_space(const struct kjoule_maps *maps, uint32_t pid, uint64_t time_ns);
/**
 * kjoule_maps_layout() - number of the layout: another one after a mapping, a fork or an exec;
 * lookups of an address stay valid while it is the same
 * Return: 0 if nothing is known of the process
 */
uint32_t kjoule_maps_layout(const struct kjoule_maps *maps, uint32_t pid, uint64_t time_ns);
/**
 * kjoule_maps_quiet() - the time around @time_ns without an event of any process, from @from up to
 * @until
 */
void kjoule_maps_quiet(const struct kjoule_maps *m, uint64_t time_ns, uint64_t *from,
		       uint64_t *until);
/**
 * kjoule_maps_program() - the file that a process ran: the one mapped by its last exec, as programs
 * that only start others (taskset, nice, env, a shell's exec) do so by an exec
 * Return: its path, or NULL if unknown
 */
const char *kjoule_maps_program(const struct kjoule_maps *maps, uint32_t pid);
/** kjoule_maps_comm() - the name of a thread at @time_ns, NULL if unknown */
const char *kjoule_maps_comm(const struct kjoule_maps *maps, uint32_t pid, uint32_t tid,
			     uint64_t time_ns);
void kjoule_maps_free(struct kjoule_maps *maps);

#endif /* KJOULE_MAPS_H */
