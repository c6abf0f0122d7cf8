// SPDX-License-Identifier: GPL-2.0-or-later
/* See jitmap.h. record stores the files of its processes, report finds functions in them. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/hash_index.h"
#include "lib/base/plain_file.h"
#include "lib/base/search.h"
#include "lib/code/jitmap.h"

/* So many functions back an older, larger one may still be around an address. */
#define LOOK_BACK	64

/* What begins the text of a process in a recording. */
static const char heading[] = "process ";

struct function {
	struct kjoule_jit_symbol symbol;
	size_t order;
};

struct process {
	uint32_t pid;
	char *text;			/* the names are in it */
	size_t n;
	struct function *functions;	/* by start */
};

struct kjoule_jitmaps {
	size_t left;			/* bytes of files that may still be read */
	size_t n;
	struct process *processes;
	struct kjoule_hash_index by_pid;
};

struct kjoule_jitmaps *kjoule_jitmaps_new(void)
{
	struct kjoule_jitmaps *maps = calloc(1, sizeof(*maps));

	if (maps)
		maps->left = KJOULE_JITMAPS_MAX;
	return maps;
}

static void jit_process_free(struct process *p)
{
	free(p->functions);
	free(p->text);
}

void kjoule_jitmaps_free(struct kjoule_jitmaps *maps)
{
	if (!maps)
		return;
	for (size_t i = 0; i < maps->n; i++)
		jit_process_free(&maps->processes[i]);
	free(maps->processes);
	kjoule_hash_index_free(&maps->by_pid);
	free(maps);
}

bool kjoule_jitmaps_maybe(const char *path)
{
	static const char *const beginnings[] = { "//anon", "[anon", "[heap]", "[stack]", "/memfd:",
						  "/dev/zero", "/dev/shm/", "/SYSV" };

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (!strncmp(path, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

static struct process *jit_process_find(const struct kjoule_jitmaps *maps, uint32_t pid)
{
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&maps->by_pid, kjoule_hash_text(pid, ""), &probe)) !=
	       KJOULE_HASH_INDEX_NONE)
		if (maps->processes[i].pid == pid)
			return &maps->processes[i];
	return NULL;
}

/* By start; of functions at the same place the last one comes last. */
static int jit_function_by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->symbol.start != y->symbol.start)
		return x->symbol.start < y->symbol.start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int jitmap_parse_line(struct process *p, char *line)
{
	struct function *f;
	uint64_t start, size;
	char *end;

	if (!isxdigit((unsigned char)line[0]))
		return 0;
	start = strtoull(line, &end, 16);
	if (*end != ' ' || !isxdigit((unsigned char)end[1]))
		return 0;
	size = strtoull(end + 1, &end, 16);
	if (*end != ' ' || !end[1] || !size || start + size < start)
		return 0;
	f = kjoule_array_grow(&p->functions, &p->n, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = (struct function){ { start, start + size, end + 1 }, p->n };
	return 0;
}

int kjoule_jitmaps_add(struct kjoule_jitmaps *maps, uint32_t pid, const char *text, size_t len)
{
	struct process p = { .pid = pid, .text = malloc(len + 1) }, *slot = NULL;
	char *line, *next;
	int ret = p.text ? 0 : -ENOMEM;

	if (jit_process_find(maps, pid)) {
		free(p.text);
		return 0;
	}
	if (!ret) {
		memcpy(p.text, text, len);
		p.text[len] = 0;
	}
	for (line = p.text; line && !ret; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		ret = jitmap_parse_line(&p, line);
	}
	if (!ret && p.n)
		qsort(p.functions, p.n, sizeof(*p.functions), jit_function_by_start);
	if (!ret)
		slot = kjoule_array_grow(&maps->processes, &maps->n, sizeof(*slot));
	if (slot) {
		*slot = p;
		ret = kjoule_hash_index_add(&maps->by_pid, kjoule_hash_text(pid, ""), maps->n - 1);
		if (ret)
			maps->n--;
	}
	if (!slot || ret) {
		jit_process_free(&p);
		return -ENOMEM;
	}
	return 0;
}

int kjoule_jitmaps_owner(uint32_t pid, uid_t *owner)
{
	struct stat process;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	if (stat(path, &process))
		return -errno;
	*owner = process.st_uid;
	return 0;
}

/*
 * Any user may write to /tmp: the file must be root's, ours or the process's own. Return: 0;
 * -EPERM; -ESRCH: the process has ended, with an unknown owner
 */
static int jitmap_is_distrusted(uint32_t pid, const uid_t *seen, const struct stat *st)
{
	uid_t now = 0;
	int gone;

	if (!st->st_uid || st->st_uid == geteuid() || (seen && *seen == st->st_uid))
		return 0;
	gone = kjoule_jitmaps_owner(pid, &now);
	if (!gone && now == st->st_uid)
		return 0;
	return gone && !seen ? -ESRCH : -EPERM;
}

/* The file of process @pid that process @viewer sees, which calls it @number. */
static int jitmap_read_file(struct kjoule_jitmaps *maps, uint32_t pid, const uid_t *owner,
			    uint32_t viewer, uint32_t number)
{
	struct stat st;
	char name[32];
	char *text;
	size_t len = 0;
	ssize_t n = 1;
	int fd, ret;

	snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", number);
	fd = kjoule_plain_open_process(viewer, "/tmp", name);
	if (fd < 0)
		return fd == -ENOTDIR ? -ENOENT : fd == -EINVAL ? -EPERM : fd;
	ret = fstat(fd, &st) ? -errno : jitmap_is_distrusted(pid, owner, &st);
	/* before it is read: many processes may have the same large file */
	if (!ret && (uint64_t)st.st_size > maps->left)
		ret = -EFBIG;
	if (ret) {
		close(fd);
		return ret;
	}
	text = malloc(st.st_size + 1);
	/* it may grow meanwhile: what comes later is later code */
	while (text && len < (size_t)st.st_size && (n = read(fd, text + len, st.st_size - len)) > 0)
		len += n;
	close(fd);
	maps->left -= len;
	ret = text ? kjoule_jitmaps_add(maps, pid, text, len) : -ENOMEM;
	free(text);
	return ret;
}

/* The number of a process in its own namespace: the last of the line NSpid. */
static uint32_t process_own_pid(uint32_t pid)
{
	char path[64], line[256], *number;
	uint32_t own = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		number = strrchr(line, '\t');
		if (number && atoi(number + 1) > 0)
			own = atoi(number + 1);
		break;
	}
	if (f)
		fclose(f);
	return own;
}

int kjoule_jitmaps_read(struct kjoule_jitmaps *maps, uint32_t pid, const uid_t *owner)
{
	int ret = jitmap_read_file(maps, pid, owner, pid, process_own_pid(pid));

	/* a process that we may not look into may have none */
	if (ret != -ENOENT && ret != -EACCES)
		return ret;
	return jitmap_read_file(maps, pid, owner, getpid(), pid);
}

const struct kjoule_jit_symbol *kjoule_jitmaps_find(const struct kjoule_jitmaps *maps, uint32_t pid,
						    uint64_t ip)
{
	const struct process *p = jit_process_find(maps, pid);
	const struct function *best = NULL;
	size_t n = p ? kjoule_count_members(p->functions, p->n, symbol.start, ip) : 0;

	for (size_t i = n, seen = 0; i-- > 0 && seen < LOOK_BACK; seen++)
		if (ip < p->functions[i].symbol.end &&
		    (!best || p->functions[i].order > best->order))
			best = &p->functions[i];
	return best ? &best->symbol : NULL;
}

char *kjoule_jitmaps_encode(const struct kjoule_jitmaps *maps, uint32_t pid)
{
	const struct process *p = jit_process_find(maps, pid);
	size_t len, *at;
	char *text = NULL;
	FILE *f;

	if (!p || !p->n)
		return strdup("");
	/* in the order of the file, for what covers what */
	at = calloc(p->n, sizeof(*at));
	f = at ? open_memstream(&text, &len) : NULL;
	if (!f) {
		free(at);
		return NULL;
	}
	for (size_t i = 0; i < p->n; i++)
		at[p->functions[i].order - 1] = i;
	fprintf(f, "%s%" PRIu32 "\n", heading, p->pid);
	for (size_t i = 0; i < p->n; i++) {
		const struct kjoule_jit_symbol *s = &p->functions[at[i]].symbol;

		fprintf(f, "%" PRIx64 " %" PRIx64 " %s\n", s->start, s->end - s->start, s->name);
	}
	free(at);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

int kjoule_jitmaps_decode(const char *text, size_t len, struct kjoule_jitmaps *maps)
{
	const char *body = memchr(text, '\n', len);
	char number[16] = "";
	size_t digits;

	if (!body || len < strlen(heading) || memcmp(text, heading, strlen(heading)))
		return -EBADMSG;
	text += strlen(heading);
	digits = body - text;
	body++;
	if ((size_t)(body - text) > sizeof(number))
		return -EBADMSG;
	memcpy(number, text, digits);
	if (!digits || strspn(number, "0123456789") != digits)
		return -EBADMSG;
	return kjoule_jitmaps_add(maps, strtoul(number, NULL, 10), body,
				  len - strlen(heading) - digits - 1);
}
