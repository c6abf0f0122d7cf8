// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The folder that keeps a sweep's recordings, and its manifest: which of them belongs to which
 * setting, as JSON. See sweep.h. A folder comes from anywhere; no more is believed of it than that
 * files are there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <json-c/json.h>
#include "lib/base/json.h"
#include "lib/base/output_file.h"
#include "lib/base/plain_file.h"
#include "lib/base/privilege.h"
#include "lib/file/meta.h"
#include "output/output.h"
#include "sweep/sweep.h"

#define FORMAT	1

static const char *const statuses[] = { [SWEEP_GOOD] = "good", [SWEEP_FAILED] = "failed" };

/*
 * Files are made in it with the rights of whoever sweeps, root's mostly: in a folder that another
 * user can write to they could be led anywhere. Return: 0; -errno with the reason in @err
 */
static int sweep_folder_check_owner(const char *folder, int fd, struct kjoule_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return kjoule_fail(err, errno, "%s: %s", folder, strerror(errno));
	if (st.st_uid != geteuid())
		return kjoule_fail(err, EPERM, "%s belongs to user %u, and the sweep runs as user %u: name another folder with -o, one that is made then, or of your own",
				   folder, st.st_uid, geteuid());
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return kjoule_fail(err, EPERM, "%s can be written to by others (mode %03o): name another folder with -o, or take that right from them with `chmod go-w`",
				   folder, st.st_mode & 0777);
	return 0;
}

/* What is looked at and what is written to is the same folder: that of the descriptor. */
static int sweep_folder_check(const char *folder, int fd, struct kjoule_error *err)
{
	struct stat st;
	int ret = sweep_folder_check_owner(folder, fd, err);

	if (ret)
		return ret;
	if (!fstatat(fd, SWEEP_MANIFEST, &st, AT_SYMLINK_NOFOLLOW))
		return kjoule_fail(err, EEXIST, "%s has a sweep already: look at it with `kjoule sweep --from %s`, remove it, or name another folder with -o",
				   folder, folder);
	if (faccessat(fd, ".", W_OK | X_OK, 0))
		return kjoule_fail(err, errno,
				   "%s: %s; name a folder that can be written to, with -o", folder,
				   strerror(errno));
	return 0;
}

int sweep_folder_new(const char *folder, struct kjoule_error *err)
{
	int fd, ret;

	if (mkdir(folder, 0700) && errno != EEXIST)
		return kjoule_fail(err, errno, "%s: %s; name a folder that can be made, with -o",
				   folder, strerror(errno));
	fd = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ?
		       kjoule_fail(err, ENOTDIR, "%s is a symbolic link, or no folder: name a folder with -o", folder) :
		       kjoule_fail(err, errno, "%s: %s; name another folder with -o", folder,
				   strerror(errno));
	ret = sweep_folder_check(folder, fd, err);
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

int sweep_folder_create(int folder, const char *name)
{
	int fd;

	if (unlinkat(folder, name, 0) && errno != ENOENT)
		return -errno;
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static struct json_object *sweep_setting_to_json(const struct sweep_setting *s)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	json_object_object_add(o, "freq_khz", s->khz ? json_object_new_uint64(s->khz) : NULL);
	json_object_object_add(o, "threads",
			       s->threads ? json_object_new_uint64(s->threads) : NULL);
	json_object_object_add(o, "refused", s->refused ? output_json_str(s->refused) : NULL);
	for (size_t i = 0; i < s->n_runs; i++) {
		struct json_object *run = json_object_new_object();

		json_object_object_add(run, "file", output_json_str(s->runs[i].file));
		json_object_object_add(run, "status",
				       json_object_new_string(statuses[s->runs[i].status]));
		json_object_object_add(run, "exit_code", json_object_new_int(s->runs[i].exit_code));
		json_object_array_add(list, run);
	}
	json_object_object_add(o, "runs", list);
	return o;
}

static struct json_object *sweep_plan_to_json(const struct sweep_plan *p)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	json_object_object_add(o, "kjoule_sweep", json_object_new_int(FORMAT));
	for (int i = 0; i < p->argc; i++)
		json_object_array_add(list, json_object_new_string(p->argv[i]));
	json_object_object_add(o, "command", list);
	json_object_object_add(o, "host", output_json_str(p->host));
	json_object_object_add(o, "kernel", output_json_str(p->kernel));
	json_object_object_add(o, "driver", output_json_str(p->driver));
	json_object_object_add(o, "start_unix_ns", json_object_new_uint64(p->wall_ns));
	json_object_object_add(o, "latency_ns", json_object_new_uint64(p->latency_ns));
	json_object_object_add(o, "runs", json_object_new_uint64(p->runs));
	json_object_object_add(o, "finished", json_object_new_boolean(p->finished));
	list = json_object_new_array();
	for (size_t i = 0; i < p->n_settings; i++)
		json_object_array_add(list, sweep_setting_to_json(&p->settings[i]));
	json_object_object_add(o, "settings", list);
	return o;
}

int sweep_folder_write(const struct sweep_plan *p, int folder, struct kjoule_error *err)
{
	struct json_object *o = sweep_plan_to_json(p);
	char *path = NULL;
	int ret;

	if (!o || asprintf(&path, "%s/" SWEEP_MANIFEST, p->folder) < 0)
		ret = kjoule_fail(err, ENOMEM, "no memory");
	else
		ret = kjoule_json_write(o, folder, path, KJOULE_OUTPUT_RECORDING,
					JSON_C_TO_STRING_PRETTY, err);
	free(path);
	json_object_put(o);
	return ret;
}

/* A name in the folder and nowhere else. */
static bool sweep_file_is_inside(const char *file)
{
	return file && *file && !strchr(file, '/') && strcmp(file, ".") && strcmp(file, "..");
}

static int sweep_run_from_json(struct json_object *o, struct sweep_setting *s)
{
	struct json_object *file = kjoule_json_get(o, "file", json_type_string);
	const char *name = file ? json_object_get_string(file) : NULL;
	char status[16];

	kjoule_json_get_str(o, "status", status, sizeof(status));
	if (!sweep_file_is_inside(name))
		return -EBADMSG;
	return sweep_plan_add(s, name,
			      strcmp(status, statuses[SWEEP_GOOD]) ? SWEEP_FAILED : SWEEP_GOOD,
			      kjoule_json_get_i64(o, "exit_code", -1));
}

static int sweep_setting_from_json(struct json_object *o, struct sweep_setting *s)
{
	struct json_object *list = kjoule_json_get(o, "runs", json_type_array);
	struct json_object *refused = kjoule_json_get(o, "refused", json_type_string);
	size_t n = list ? json_object_array_length(list) : 0;
	int ret = n > SWEEP_RUNS ? -EBADMSG : 0;

	s->khz = kjoule_json_get_u64(o, "freq_khz");
	s->threads = kjoule_json_get_u64(o, "threads");
	if (refused) {
		s->refused = strdup(json_object_get_string(refused));
		ret = ret ? ret : s->refused ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < n && !ret; i++)
		ret = sweep_run_from_json(json_object_array_get_idx(list, i), s);
	return ret;
}

static int sweep_plan_from_json(struct json_object *o, struct sweep_plan *p)
{
	struct json_object *list = kjoule_json_get(o, "settings", json_type_array);
	struct json_object *command = kjoule_json_get(o, "command", json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;
	size_t argc = command ? json_object_array_length(command) : 0;
	int ret = 0;

	if (kjoule_json_get_u64(o, "kjoule_sweep") != FORMAT || !n || n > SWEEP_SETTINGS ||
	    argc > 65536)
		return -EBADMSG;
	kjoule_json_get_str(o, "host", p->host, sizeof(p->host));
	kjoule_json_get_str(o, "kernel", p->kernel, sizeof(p->kernel));
	kjoule_json_get_str(o, "driver", p->driver, sizeof(p->driver));
	p->wall_ns = kjoule_json_get_u64(o, "start_unix_ns");
	p->latency_ns = kjoule_json_get_u64(o, "latency_ns");
	p->runs = kjoule_json_get_u64(o, "runs");
	p->finished = kjoule_json_get_bool(o, "finished");
	p->argv = calloc(argc + 1, sizeof(*p->argv));
	p->settings = calloc(n, sizeof(*p->settings));
	if (!p->argv || !p->settings)
		return -ENOMEM;
	for (size_t i = 0; i < argc; i++) {
		const char *word = json_object_get_string(json_object_array_get_idx(command, i));

		p->argv[i] = strdup(word ? word : "");
		if (!p->argv[i])
			return -ENOMEM;
		p->argc++;
	}
	for (p->n_settings = 0; p->n_settings < n && !ret; p->n_settings++)
		ret = sweep_setting_from_json(json_object_array_get_idx(list, p->n_settings),
					      &p->settings[p->n_settings]);
	return ret;
}

/* Return: 0 or -errno; @text is the caller's to free */
static int sweep_manifest_read_text(const char *path, char **text, size_t *len)
{
	struct stat st;
	int fd, ret = 0;

	*text = NULL;
	kjoule_privilege_raise();
	fd = kjoule_plain_open(AT_FDCWD, path);
	kjoule_privilege_lower();
	if (fd < 0)
		return fd == -EINVAL ? -EBADMSG : fd;
	if (fstat(fd, &st))
		ret = -errno;
	else if (st.st_size > KJOULE_JSON_MAX)
		ret = -EBADMSG;
	if (!ret) {
		*len = st.st_size;
		*text = malloc(*len + 1);
		ret = !*text ? -ENOMEM : pread(fd, *text, *len, 0) != st.st_size ? -EIO : 0;
	}
	close(fd);
	return ret;
}

int sweep_folder_read(const char *folder, struct sweep_plan *p, struct kjoule_error *err)
{
	char *path = NULL, *text = NULL;
	struct json_object *o = NULL;
	size_t len = 0;
	int ret = asprintf(&path, "%s/" SWEEP_MANIFEST, folder) < 0 ?
			  -ENOMEM :
			  sweep_manifest_read_text(path, &text, &len);

	if (!ret) {
		o = kjoule_json_parse(text, len);
		ret = o && json_object_is_type(o, json_type_object) ? sweep_plan_from_json(o, p) :
		      -EBADMSG;
	}
	if (!ret) {
		p->folder = strdup(folder);
		ret = p->folder ? 0 : -ENOMEM;
	}
	if (ret == -ENOENT)
		kjoule_fail(err, ENOENT, "%s: there is no sweep in it (no "
			    SWEEP_MANIFEST "); name the folder that `kjoule sweep -o` was given",
			    folder);
	else if (ret == -EBADMSG)
		kjoule_fail(err, EBADMSG, "%s is no manifest of a sweep, or damaged", path);
	else if (ret)
		kjoule_fail(err, -ret, "%s/" SWEEP_MANIFEST ": %s", folder, strerror(-ret));
	json_object_put(o);
	free(text);
	free(path);
	return ret;
}
