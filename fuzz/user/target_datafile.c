// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: a data file of any content through `kjoule report` and `kjoule script`, and with a
 * copy of itself as another run through `kjoule report` and `kjoule diff`, from opening it to the
 * last line of output. The input is the file. Names in it are not followed: one object, this
 * program itself, stands for all that can be opened (target_elf.c has hostile ones), and this
 * machine's kernel is made up. Now and then the file is cut between two looks at it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cli/cmd.h"
#include "fuzz/user/capture.h"
#include "fuzz/user/target.h"
#include "lib/code/kallsyms.h"
#include "lib/code/symbols.h"
#include "lib/file/datafile.h"
#include "lib/file/meta.h"
#include "lib/file/recording.h"
#include "verbs.h"

#define OBJECT	"/fuzz/object"

int __wrap_kjoule_elf_open(const char *path, const char *build_id, struct kjoule_elf **out);
int __real_kjoule_elf_open(const char *path, const char *build_id, struct kjoule_elf **out);
void __wrap_kjoule_elf_close(struct kjoule_elf *elf);
int __wrap_kjoule_meta_gather(struct kjoule_meta *meta);
int __wrap_kjoule_kallsyms_read(struct kjoule_kallsyms **out);

ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t at);
ssize_t __real_pread(int fd, void *buf, size_t len, off_t at);

/* Before the @cut_before-th look from now on the file becomes @cut_to bytes long. */
static int input_fd = -1;
static unsigned int cut_before;
static size_t cut_to;

ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t at)
{
	if (cut_before && !--cut_before && ftruncate(input_fd, cut_to))
		abort();
	return __real_pread(fd, buf, cut_before ? len / 2 + 1 : len, at);	/* short, too */
}

int __wrap_kjoule_elf_open(const char *path, const char *build_id, struct kjoule_elf **out)
{
	static struct kjoule_elf *self;

	*out = NULL;
	if (strcmp(path, OBJECT))
		return -ENOENT;
	if (build_id && !strcmp(build_id, "other"))
		return -ESTALE;
	if (!self && __real_kjoule_elf_open("/proc/self/exe", NULL, &self))
		return -ENOEXEC;
	*out = self;
	return 0;
}

void __wrap_kjoule_elf_close(struct kjoule_elf *elf)
{
	(void)elf;
}

int __wrap_kjoule_meta_gather(struct kjoule_meta *meta)
{
	strcpy(meta->boot_id, "fuzz");
	return 0;
}

int __wrap_kjoule_kallsyms_read(struct kjoule_kallsyms **out)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffff81000100 t one\n"
				   "ffffffff81000200 t two\t[module]\n";

	return kjoule_kallsyms_parse(text, sizeof(text) - 1, out);
}

static const struct {
	int (*verb)(int argc, char **argv);
	enum capture_kind kind;
	const char *args[8];
} runs[] = {
	{ cmd_report, CAPTURE_TEXT, { "report" } },
	{ cmd_script, CAPTURE_TEXT, { "script" } },
	{ cmd_report, CAPTURE_JSON, { "report", "--json" } },
	{ cmd_script, CAPTURE_JSON_LINES, { "script", "--json" } },
	{ cmd_report, CAPTURE_CSV, { "report", "--csv", "--raw", "--sort", "freq" } },
	{ cmd_script, CAPTURE_CSV, { "script", "--csv" } },
	{ cmd_report, CAPTURE_TEXT, { "report", "--sort", "power", "--percent-limit", "0" } },
	{ cmd_report, CAPTURE_TEXT, { "report", "--sort", "name", "--comm", "program" } },
	{ cmd_report, CAPTURE_CSV, { "report", "--csv", "--sort", "samples", "--pid", "100" } },
	{ cmd_report, CAPTURE_JSON, { "report", "--json", "--raw", "--sort", "time" } },
	{ cmd_report, CAPTURE_TEXT, { "report", "--by", "region" } },
	{ cmd_report, CAPTURE_JSON, { "report", "--json", "--by", "region" } },
	{ cmd_report, CAPTURE_CSV, { "report", "--csv", "--region", "load" } },
	/* from here on a copy of the file comes after it */
	{ cmd_report, CAPTURE_TEXT, { "report" } },
	{ cmd_report, CAPTURE_JSON,
	  { "report", "--json", "--by", "object", "--without-outliers" } },
	{ cmd_report, CAPTURE_CSV, { "report", "--csv", "--by", "region" } },
	{ cmd_report, CAPTURE_TEXT, { "report", "--region", "load", "--model", "auto" } },
	{ cmd_diff, CAPTURE_TEXT, { "diff", "--sort", "power" } },
	{ cmd_diff, CAPTURE_JSON, { "diff", "--json", "--by", "region" } },
	{ cmd_diff, CAPTURE_CSV, { "diff", "--csv", "--force", "--raw" } },
};

#define N_RUNS	(sizeof(runs) / sizeof(runs[0]))
#define TWICE	13		/* the first of those with a copy */

static int copy_fd = -1;
static char copy_path[64];

static void run(size_t i, const char *path, size_t bytes)
{
	char *argv[12];
	int argc = 0, code;

	while (runs[i].args[argc]) {
		argv[argc] = (char *)runs[i].args[argc];
		argc++;
	}
	argv[argc++] = (char *)path;
	if (i >= TWICE)
		argv[argc++] = copy_path;
	argv[argc] = NULL;
	must_end_soon(bytes);
	capture_begin();
	code = runs[i].verb(argc, argv);
	capture_end(runs[i].kind, code);
}

/* What was written, read and written again is the same. */
static void there_and_back(const struct kjoule_recording *rec)
{
	char *text = kjoule_meta_encode(&rec->meta), *again;
	struct kjoule_calibration cal;
	struct kjoule_meta meta;
	struct kjoule_end end;

	must_hold(!kjoule_meta_decode(text, strlen(text), &meta), "meta that was read can be written");
	again = kjoule_meta_encode(&meta);
	must_hold(!strcmp(text, again), "meta goes there and back");
	kjoule_meta_free(&meta);
	free(text);
	free(again);
	text = kjoule_calibration_encode(&rec->cal);
	must_hold(!kjoule_calibration_decode(text, strlen(text), &cal) &&
		  cal.ticks == rec->cal.ticks &&
		  cal.n_domains == rec->cal.n_domains, "a calibration goes there and back");
	free(text);
	text = kjoule_end_encode(&rec->end);
	must_hold(!kjoule_end_decode(text, strlen(text), &end) &&
		  !strcmp(end.reason, rec->end.reason) && end.stop_ns == rec->end.stop_ns &&
		  !memcmp(&end.regions, &rec->end.regions, sizeof(end.regions)), "the end goes there and back");
	free(text);
}

/* From memory it is the same recording as from the file. */
static void load_both_ways(const char *path, const uint8_t *data, size_t len, size_t bytes)
{
	struct kjoule_recording file, memory;
	struct kjoule_error err;
	int a, b;

	must_end_soon(bytes);
	a = kjoule_recording_load(path, &file, &err);
	b = kjoule_recording_load_memory(data, len, path, &memory, &err);
	must_hold(a == b, "a file and a buffer are judged alike");
	if (a)
		return;
	must_hold(file.n_streams == memory.n_streams && file.records_len == memory.records_len &&
		  file.side_band_len == memory.side_band_len &&
		  file.regions_len == memory.regions_len && file.ended == memory.ended &&
		  file.damage.chunks == memory.damage.chunks &&
		  file.damage.truncated == memory.damage.truncated &&
		  file.unpackable == memory.unpackable, "a file and a buffer are read alike");
	there_and_back(&file);
	kjoule_recording_free(&file);
	kjoule_recording_free(&memory);
}

/* The bytes of the file and of what it holds, as far as a reader goes. */
static size_t content_bytes(const uint8_t *data, size_t len)
{
	struct kjoule_reader *r;
	struct kjoule_chunk c;
	size_t bytes = len;

	must_end_soon(len);
	if (kjoule_reader_open_memory(data, len, "", &r, NULL))
		return bytes;
	while (kjoule_reader_next(r, &c) > 0)
		bytes += c.len;
	kjoule_reader_close(r);
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static char path[64];
	uint32_t pick = kjoule_crc32(data, len);
	size_t bytes = content_bytes(data, len);

	if (input_fd < 0) {
		input_fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", input_fd);
		setenv("TZ", "UTC", 1);
		copy_fd = memfd_create("copy", MFD_CLOEXEC);
		snprintf(copy_path, sizeof(copy_path), "/proc/self/fd/%d", copy_fd);
	}
	cut_before = 0;
	if (input_fd < 0 || ftruncate(input_fd, 0) ||
	    pwrite(input_fd, data, len, 0) != (ssize_t)len || copy_fd < 0 ||
	    ftruncate(copy_fd, 0) || pwrite(copy_fd, data, len, 0) != (ssize_t)len)
		abort();
	/* all of them when an input is looked at; one of each verb to be quick */
	for (size_t i = 0; i < N_RUNS; i++)
		if (target_thorough() || i == pick % N_RUNS || (i == pick / N_RUNS % 3 * 2 + 1))
			run(i, path, bytes);
	if (target_thorough() || pick >> 8 & 1)
		load_both_ways(path, data, len, bytes);
	if (target_thorough() || !(pick >> 9 & 3)) {
		cut_before = 1 + (pick >> 11) % 6;
		cut_to = len ? (pick >> 14) % len : 0;
		run(pick % 2, path, bytes);
	}
	return 0;
}
