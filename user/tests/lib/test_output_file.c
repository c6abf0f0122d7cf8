// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that the user names are new ones that are renamed into place: what others have put there is
 * neither written to nor replaced, and nothing is lost when writing fails. Recordings, pictures and
 * exports alike.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "lib/base/output_file.h"
#include "lib/file/datafile.h"
#include "output/picture.h"
#include "tests/support/series.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define NOBODY	65534

static struct kjoule_error why;
/*
 * The test's own: a folder, the file in it that is written, and another one that must stay as it
 * is.
 */
static char folder[300], wanted[320], precious[320];

static int folder_new(void **state)
{
	static int n;
	char name[20];

	(void)state;
	snprintf(name, sizeof(name), "folder%d", n++);
	snprintf(folder, sizeof(folder), "%s", temp_path(name));
	snprintf(wanted, sizeof(wanted), "%s/x.data", folder);
	snprintf(precious, sizeof(precious), "%s/precious", folder);
	if (mkdir(folder, 0700))
		return -1;
	write_file(precious, "precious", 8);
	return 0;
}

/* Names in the folder: nothing is left of what was not finished. */
static int names(void)
{
	DIR *dir = opendir(folder);
	int n = -2;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static bool is_text(const char *path, const char *text)
{
	return !strcmp(kept_text(path), text);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

/* Written as a recording, and as another file. */
static int write_new(const char *path, unsigned int flags)
{
	struct kjoule_output_file f;
	struct kjoule_writer *w;
	int ret;

	if (flags & KJOULE_OUTPUT_RECORDING) {
		ret = kjoule_writer_open(path, &w, &why);
		if (ret)
			return ret;
		ret = kjoule_writer_chunk(w, KJOULE_CHUNK_META, 0, "{}", 2, &why);
		kjoule_writer_close(w, NULL);
		return ret;
	}
	ret = kjoule_output_file_open(&f, AT_FDCWD, path, flags, &why);
	if (ret)
		return ret;
	fputs("new", f.stream);
	return kjoule_output_file_finish(&f, &why);
}

/* What is at @wanted is refused with these words, and stays what it is. */
static void is_refused(int ret, const char *words)
{
	struct stat before, after;
	int n = names();

	assert_int_equal(lstat(wanted, &before), 0);
	for (unsigned int flags = 0; flags < 2; flags++) {
		assert_int_equal(write_new(wanted, flags), ret);
		assert_true(says(why.text, "cannot write '") && says(why.text, wanted) &&
			    says(why.text, words));
		assert_true(says(why.text, flags ? "name another file with -o" :
				 "name another file"));
		assert_int_equal(kjoule_output_file_check(wanted, flags, &why), ret);
	}
	assert_int_equal(lstat(wanted, &after), 0);
	assert_true(after.st_ino == before.st_ino && after.st_size == before.st_size &&
		    after.st_mode == before.st_mode && after.st_mtim.tv_nsec ==
		    before.st_mtim.tv_nsec);
	assert_true(is_text(precious, "precious"));
	assert_int_equal(names(), n);
}

TEST_WITH(what_is_no_plain_file_is_refused, folder_new, NULL)
{
	assert_int_equal(symlink(precious, wanted), 0);
	is_refused(-ELOOP, "is a symbolic link; name another file");
	unlink(wanted);
	assert_int_equal(symlink("nothing", wanted), 0);
	is_refused(-ELOOP, "is a symbolic link; name another file");
	unlink(wanted);
	assert_int_equal(link(precious, wanted), 0);
	is_refused(-EMLINK, "is known by 2 names (hard links); remove it or");
	unlink(wanted);
	assert_int_equal(mkfifo(wanted, 0600), 0);
	is_refused(-EINVAL, "is not a regular file");
	unlink(wanted);
	assert_int_equal(mkdir(wanted, 0700), 0);
	is_refused(-EISDIR, "Is a directory");
	rmdir(wanted);
	if (!mknod(wanted, S_IFCHR | 0600, makedev(1, 3))) {
		is_refused(-EINVAL, "is not a regular file");
		unlink(wanted);
	}
	assert_int_equal(write_new("/dev/null", 0), -EINVAL);
	snprintf(wanted, sizeof(wanted), "%s/", folder);
	assert_int_equal(write_new(wanted, 0), -EISDIR);
}

/* As in a folder that all can write to: made by another user, for our recording. */
TEST_WITH(a_planted_file_is_refused, folder_new, NULL)
{
	if (geteuid())
		skip();
	assert_int_equal(chmod(temp_path(""), 0711), 0);
	assert_int_equal(chmod(folder, 01777), 0);
	write_file(wanted, "planted", 7);
	assert_int_equal(chmod(wanted, 0666), 0);
	assert_int_equal(chown(wanted, NOBODY, NOBODY), 0);
	is_refused(-EPERM, "belongs to user 65534, not to user 0; remove it or");
	/* and so it is of a user who finds root's */
	assert_int_equal(chown(wanted, 0, 0), 0);
	assert_int_equal(seteuid(NOBODY), 0);
	assert_int_equal(write_new(wanted, KJOULE_OUTPUT_RECORDING), -EPERM);
	assert_int_equal(seteuid(0), 0);
	assert_true(says(why.text, "belongs to user 0, not to user 65534"));
	assert_true(is_text(wanted, "planted"));
}

/* What comes while the file is written is no better. */
TEST_WITH(what_is_planted_meanwhile_is_refused, folder_new, NULL)
{
	struct kjoule_output_file f;
	struct kjoule_writer *w;

	assert_int_equal(kjoule_output_file_open(&f, AT_FDCWD, wanted, 0, &why), 0);
	assert_int_equal(kjoule_writer_open(wanted, &w, &why), 0);
	assert_int_equal(symlink(precious, wanted), 0);
	fputs("new", f.stream);
	assert_int_equal(kjoule_output_file_finish(&f, &why), -ELOOP);
	assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_META, 0, "{}", 2, &why), -ELOOP);
	assert_true(says(why.text, "is a symbolic link"));
	assert_int_equal(kjoule_writer_close(w, &why), 0);
	assert_true(is_text(precious, "precious"));
	assert_int_equal(names(), 2);
}

/* The file is made in the folder that was looked at, not in one that has taken its place. */
TEST_WITH(a_folder_is_exchanged_in_vain, folder_new, NULL)
{
	struct kjoule_output_file f;
	char moved[310];

	snprintf(moved, sizeof(moved), "%s.moved", folder);
	assert_int_equal(kjoule_output_file_open(&f, AT_FDCWD, wanted, 0, &why), 0);
	assert_int_equal(rename(folder, moved), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	fputs("new", f.stream);
	assert_int_equal(kjoule_output_file_finish(&f, &why), 0);
	assert_int_equal(names(), 0);
	snprintf(wanted, sizeof(wanted), "%s/x.data", moved);
	assert_true(is_text(wanted, "new"));
}

TEST_WITH(only_its_user_reads_a_recording, folder_new, NULL)
{
	const mode_t before = umask(0);

	assert_int_equal(write_new(wanted, KJOULE_OUTPUT_RECORDING), 0);
	assert_int_equal(mode_of(wanted), 0600);
	assert_int_equal(chmod(wanted, 0666), 0);
	assert_int_equal(write_new(wanted, KJOULE_OUTPUT_RECORDING), 0);
	assert_int_equal(mode_of(wanted), 0600);
	umask(before);
}

/* Others have the umask's mode, or that of what they replace. */
TEST_WITH(other_files_are_as_open_as_is_usual, folder_new, NULL)
{
	const mode_t before = umask(027);

	assert_int_equal(write_new(wanted, 0), 0);
	assert_int_equal(mode_of(wanted), 0640);
	assert_true(is_text(wanted, "new"));
	assert_int_equal(chmod(wanted, 0604), 0);
	assert_int_equal(write_new(wanted, 0), 0);
	assert_int_equal(mode_of(wanted), 0604);
	if (!geteuid()) {
		/* the group that could read it is another one than that of the new file */
		assert_int_equal(chmod(wanted, 0640), 0);
		assert_int_equal(chown(wanted, 0, NOBODY), 0);
		assert_int_equal(write_new(wanted, 0), 0);
		assert_int_equal(mode_of(wanted), 0600);
	}
	umask(before);
}

/* Who has the old file open has the old file. */
TEST_WITH(nothing_is_written_into_what_is_there, folder_new, NULL)
{
	char text[8] = "";
	int fd;

	for (unsigned int flags = 0; flags < 2; flags++) {
		unlink(wanted);
		write_file(wanted, "old", 3);
		fd = open(wanted, O_RDONLY);
		assert_true(fd >= 0);
		assert_int_equal(write_new(wanted, flags), 0);
		assert_int_equal(pread(fd, text, sizeof(text), 0), 3);
		assert_memory_equal(text, "old", 3);
		close(fd);
		assert_int_equal(names(), 2);
	}
}

TEST_WITH(what_is_given_up_leaves_nothing, folder_new, NULL)
{
	struct kjoule_output_file f;

	write_file(wanted, "old", 3);
	assert_int_equal(kjoule_output_file_open(&f, AT_FDCWD, wanted, 0, &why), 0);
	fputs("new", f.stream);
	assert_int_equal(names(), 3);
	assert_int_equal(kjoule_output_file_close(&f, &why), 0);
	assert_int_equal(names(), 2);
	assert_true(is_text(wanted, "old"));
	/* what the disk does not take is given up, too */
	assert_int_equal(kjoule_output_file_open(&f, AT_FDCWD, wanted, 0, &why), 0);
	assert_int_equal(dup3(open("/dev/full", O_WRONLY | O_CLOEXEC), f.fd, O_CLOEXEC), f.fd);
	fputs("new", f.stream);
	assert_int_equal(kjoule_output_file_finish(&f, &why), -ENOSPC);
	assert_true(says(why.text, "No space left"));
	assert_int_equal(names(), 2);
	assert_true(is_text(wanted, "old"));
}

/* The data of a picture have no name of their own. */
TEST_WITH(data_of_a_picture_replace_nothing_unasked, folder_new, NULL)
{
	char svg[320], csv[320];
	struct picture p;
	int ret;

	snprintf(svg, sizeof(svg), "%s/x.svg", folder);
	snprintf(csv, sizeof(csv), "%s/x.csv", folder);
	write_file(csv, "precious", 8);
	write_file(svg, "old", 3);
	assert_int_equal(picture_check(svg, false, &why), -EEXIST);
	assert_int_equal(picture_open(&p, svg, false, &why), -EEXIST);
	assert_int_equal(picture_close(&p, &why), -EEXIST);
	assert_true(says(why.text, "/x.csv': exists already") && says(why.text, "--force"));
	assert_true(is_text(csv, "precious") && is_text(svg, "old"));
	assert_int_equal(kjoule("boost plan --r 1.1 --boost 50s --plot %s", svg), 1);
	assert_true(says(err, "/x.csv': exists already") && says(err, "--force"));
	assert_true(is_text(csv, "precious") && is_text(svg, "old"));
	assert_int_equal(picture_check(svg, true, &why), 0);
	ret = kjoule("boost plan --r 1.1 --boost 50s --force --plot %s", svg);
	if (ret)
		assert_true(says(err, "there is no gnuplot"));
	assert_false(is_text(csv, "precious"));
	assert_int_equal(is_text(svg, "old"), ret != 0);
	assert_int_equal(names(), 3);
	/* a link is none that --force would replace */
	unlink(csv);
	assert_int_equal(symlink(precious, csv), 0);
	assert_int_equal(kjoule("boost plan --r 1.1 --boost 50s --force --plot %s", svg), 1);
	assert_true(says(err, "/x.csv': is a symbolic link"));
	assert_true(is_text(precious, "precious"));
	/* nor is the picture written through one */
	unlink(csv);
	unlink(svg);
	assert_int_equal(symlink(precious, svg), 0);
	assert_int_equal(kjoule("boost plan --r 1.1 --boost 50s --plot %s", svg), 1);
	assert_true(says(err, "/x.svg': is a symbolic link"));
	assert_int_equal(access(csv, F_OK), -1);
	assert_true(is_text(precious, "precious"));
}

/* What cannot be written is known before the machine is measured. */
TEST_WITH(exports_are_checked_before, folder_new, NULL)
{
	static const char *const options[] = {
		"boost run --export-json", "boost run --export-csv", "boost run --export-markdown",
		"boost run -o",
		"latency -o",
	};

	assert_int_equal(symlink(precious, wanted), 0);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		assert_int_equal(kjoule("%s %s%s", options[i], wanted, strstr(options[i], "run") ?
					" -- true" : ""), 1);
		assert_true(says(err, "/x.data': is a symbolic link; name another file"));
	}
	assert_true(is_text(precious, "precious"));
}

/* Without a file name, a recording that another user may have planted is not read. */
TEST_WITH(the_usual_file_of_others_is_not_read, folder_new, NULL)
{
	static const char *const verbs[] = { "report", "annotate", "script", "report --folded" };
	char before[300];

	if (geteuid())
		skip();
	assert_non_null(getcwd(before, sizeof(before)));
	series_record(&(struct series_run){ .name = "kjoule.data", .ticks = 400, .watt = 1 });
	assert_int_equal(chdir(temp_path("")), 0);
	/* of the damage of what is planted nothing is said either: it was not looked into */
	write_file(wanted, "no recording", 12);
	assert_int_equal(chown(wanted, NOBODY, NOBODY), 0);
	assert_int_equal(kjoule("script"), 0);
	assert_int_equal(chown("kjoule.data", NOBODY, NOBODY), 0);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		assert_int_equal(kjoule("%s", verbs[i]), 1);
		assert_true(says(err, "'kjoule.data' belongs to user 65534, not to user 0 or root; give its name to read it"));
		assert_string_equal(out, "");
	}
	assert_int_equal(kjoule("script kjoule.data"), 0);
	assert_int_equal(kjoule("report ./kjoule.data"), 0);
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(rename("x.data", "kjoule.data"), 0);
	assert_int_equal(kjoule("report"), 1);
	assert_true(says(err, "belongs to user 65534"));
	assert_int_equal(chdir(before), 0);
}

/* A user's own, and root's. */
TEST_WITH(the_usual_file_of_root_is_read, folder_new, NULL)
{
	struct kjoule_reader *r;
	char before[300];

	if (geteuid())
		skip();
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chmod(temp_path(""), 0711), 0);
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(write_new("kjoule.data", KJOULE_OUTPUT_RECORDING), 0);
	assert_int_equal(chmod("kjoule.data", 0644), 0);
	for (uid_t owner = 0; owner <= NOBODY; owner += NOBODY / 2) {
		assert_int_equal(chown("kjoule.data", owner, owner), 0);
		assert_int_equal(seteuid(NOBODY), 0);
		assert_int_equal(kjoule_reader_open(NULL, &r, &why), owner && owner != NOBODY ?
				 -EPERM : 0);
		kjoule_reader_close(r);
		assert_int_equal(kjoule_reader_open("kjoule.data", &r, &why), 0);
		kjoule_reader_close(r);
		assert_int_equal(seteuid(0), 0);
	}
	assert_int_equal(chdir(before), 0);
}
