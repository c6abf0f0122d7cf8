// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sources that are a file of sysfs with one number in it: powercap, hwmon, thermal zones and
 * others. The file comes as a descriptor, so that its opener's permission counts and no path is
 * looked up in the kernel; it is opened again for the module alone. The number is specified with
 * it.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include <linux/slab.h>

#include "source/spec.h"

/* Longer than a 64-bit number with sign and newline (21 characters). */
#define TEXT_LEN	32

/**
 * struct value_file - a source that is a file
 * @src:	the source
 * @spec:	as requested
 * @file:	the file, opened privately
 */
struct value_file {
	struct kjoule_source src;
	struct kjoule_spec spec;
	struct file *file;
};

/*
 * Read with the opener's credentials: the reading thread has all capabilities, and some files check
 * the reader.
 */
static ssize_t value_file_read_text(struct file *file, char *text, size_t len)
{
	const struct cred *own = override_creds(file->f_cred);
	loff_t pos = 0;		/* sysfs regenerates the text at offset 0 */
	ssize_t got = kernel_read(file, text, len, &pos);

	revert_creds(own);
	return got;
}

static int value_file_read(struct kjoule_source *src, unsigned int domain, s64 *raw)
{
	struct value_file *vf = container_of(src, struct value_file, src);
	char text[TEXT_LEN];
	ssize_t len;
	int err;

	len = value_file_read_text(vf->file, text, sizeof(text) - 1);
	if (len < 0)
		return len;
	if (!len)
		return -ENODATA;
	text[len] = '\0';
	/* too long, or with a NUL: not a number */
	if (len == sizeof(text) - 1 || strlen(text) != len)
		return -EINVAL;
	err = kstrtos64(text, 10, raw);
	if (!err && src->kind == KJOULE_KIND_ENERGY && *raw < 0)
		err = -ERANGE;
	return err;
}

static void value_file_release(struct kjoule_source *src)
{
	struct value_file *vf = container_of(src, struct value_file, src);

	fput(vf->file);
	kfree(vf);
}

static const struct kjoule_source_ops value_file_ops = {
	.read_value = value_file_read,
	.release = value_file_release,
};

/* May a thread read the file repeatedly without side effects? */
static const char *value_file_refusal(struct file *file)
{
	const struct inode *inode = file_inode(file);

	if (inode->i_sb->s_magic != SYSFS_MAGIC)
		return "the descriptor is not of a file in sysfs";
	if (!S_ISREG(inode->i_mode))
		return "the descriptor is not of a regular file";
	if (!(file->f_mode & FMODE_READ))
		return "the descriptor is not open for reading";
	return NULL;
}

/*
 * Open a private file: another holder of @given can hold its lock for any time, by reading into
 * memory that faults slowly. The rights to read were checked at open, for the opener. Do not wait
 * for the holder of a lease either.
 */
static struct file *value_file_reopen(const struct file *given)
{
	return dentry_open(&given->f_path, O_RDONLY | O_NONBLOCK, given->f_cred);
}

/**
 * kjoule_value_file_create() - create a source of a file
 * @spec:	checked; its descriptor is one of the caller's
 * @words:	set to the reason of an error
 * Return: the source or an ERR_PTR: -EBADF, -EINVAL for a file that is not a readable one of sysfs,
 * -ENOMEM, or the error of opening it
 */
struct kjoule_source *kjoule_value_file_create(const struct kjoule_spec *spec, char *words)
{
	struct file *given = fget(spec->fd), *file;
	struct value_file *vf;
	const char *why;

	if (!given) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: there is no open file with descriptor %u",
			 spec->name, spec->fd);
		return ERR_PTR(-EBADF);
	}
	why = value_file_refusal(given);
	if (why) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: %s", spec->name, why);
		fput(given);
		return ERR_PTR(-EINVAL);
	}
	file = value_file_reopen(given);
	fput(given);
	if (IS_ERR(file)) {
		snprintf(words, KJOULE_WORDS_LEN, "%s: cannot be opened once more (error %ld)",
			 spec->name, -PTR_ERR(file));
		return ERR_CAST(file);
	}
	vf = kzalloc(sizeof(*vf), GFP_KERNEL_ACCOUNT);
	if (!vf) {
		fput(file);
		return ERR_PTR(-ENOMEM);
	}
	vf->file = file;
	vf->spec = *spec;
	kjoule_spec_describe(&vf->spec, &vf->src);
	vf->src.ops = &value_file_ops;
	return &vf->src;
}
