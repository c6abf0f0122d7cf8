// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sources that are a file of sysfs with one number in it: powercap, hwmon, thermal
 * zones and whatever else. The file comes as a descriptor, so that its opener's
 * permission is what counts and no path is looked up in the kernel; it is opened once more
 * for the module alone. What the number means is told by who hands it over.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include <linux/slab.h>

#include "source/spec.h"

/* More than 64 bits, a sign and a newline need. */
#define TEXT_LEN	32

/**
 * struct value_file - a source that is a file
 * @src:	the source
 * @spec:	as asked for
 * @file:	the file, open for nobody else
 */
struct value_file {
	struct kjoule_source src;
	struct kjoule_spec spec;
	struct file *file;
};

/*
 * With the rights of who opened the file. The thread that reads it has all capabilities, and some
 * files ask who reads.
 */
static ssize_t value_file_read_text(struct file *file, char *text, size_t len)
{
	const struct cred *own = override_creds(file->f_cred);
	loff_t pos = 0;		/* sysfs makes the text anew when it is read from its beginning */
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
	/* more than fits, or a zero in the middle, is no number */
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

/* Is it a file that a thread may read again and again, without who knows what effect? */
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
 * One of our own: whoever else has @given can hold its lock for as long as he likes, by reading
 * into memory that is slow to come. What may be read was decided when it was opened, by its
 * opener's rights. Nor is it waited for who has a lease on it, which he would have to give up.
 */
static struct file *value_file_reopen(const struct file *given)
{
	return dentry_open(&given->f_path, O_RDONLY | O_NONBLOCK, given->f_cred);
}

/**
 * kjoule_value_file_create() - make a source of a file
 * @spec:	checked; its descriptor is looked up among the caller's
 * @words:	set to the reason of a refusal
 *
 * Context: process, sleeps.
 * Return: the source or an ERR_PTR: -EBADF, -EINVAL for a file that is none of sysfs to be read,
 * -ENOMEM, or what opening it says.
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
		snprintf(words, KJOULE_WORDS_LEN, "%s: can not be opened once more (error %ld)",
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
