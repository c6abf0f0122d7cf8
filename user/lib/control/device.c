// SPDX-License-Identifier: GPL-2.0-or-later
/* /dev/kjoule: open it, check its version, attach to a session and map its rings. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "lib/base/cpus.h"
#include "lib/base/error.h"
#include "lib/control/ring.h"

struct kjoule_device {
	int fd;
	struct kjoule_info info;
	unsigned int n_rings;
	struct kjoule_ring_reader *rings;
};

static int device_open_failed(struct kjoule_error *err, int code)
{
	switch (code) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return kjoule_fail(err, ENODEV,
				   "%s: no such device; load the module with `sudo modprobe kjoule`",
				   KJOULE_DEVICE);
	case EACCES:
	case EPERM:
		return kjoule_refused(err, code, KJOULE_DEVICE, NULL, KJOULE_LOCKDOWN);
	default:
		return kjoule_fail(err, code, "%s: %s", KJOULE_DEVICE, strerror(code));
	}
}

int kjoule_device_open(struct kjoule_device **out, struct kjoule_error *err)
{
	struct kjoule_device *dev = calloc(1, sizeof(*dev));
	int ret;

	*out = NULL;
	if (!dev)
		return kjoule_fail(err, ENOMEM, "no memory");
	dev->fd = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (dev->fd < 0) {
		ret = device_open_failed(err, errno);
		free(dev);
		return ret;
	}
	dev->info.size = sizeof(dev->info);
	if (ioctl(dev->fd, KJOULE_IOC_INFO, &dev->info)) {
		ret = kjoule_fail(err, errno, "%s: asked for its version: %s; is it kjoule's?",
				  KJOULE_DEVICE, strerror(errno));
		goto err_close;
	}
	dev->info.version[sizeof(dev->info.version) - 1] = '\0';
	if (dev->info.abi < KJOULE_ABI_VERSION) {
		ret = kjoule_fail(err, EPROTO,
				  "%s: the loaded module (version %s) speaks ABI %u, this program needs %u; "
				  "reload it with `sudo modprobe -r kjoule && sudo modprobe kjoule`",
				  KJOULE_DEVICE, dev->info.version, dev->info.abi,
				  KJOULE_ABI_VERSION);
		goto err_close;
	}
	*out = dev;
	return 0;

err_close:
	close(dev->fd);
	free(dev);
	return ret;
}

void kjoule_device_close(struct kjoule_device *dev)
{
	if (!dev)
		return;
	for (unsigned int i = 0; i < dev->n_rings; i++) {
		if (dev->rings[i].map)
			munmap(dev->rings[i].map, dev->rings[i].map_len);
		if (dev->rings[i].tail)
			munmap(dev->rings[i].tail, sysconf(_SC_PAGESIZE));
	}
	free(dev->rings);
	close(dev->fd);
	free(dev);
}

const struct kjoule_info *kjoule_device_info(const struct kjoule_device *dev)
{
	return &dev->info;
}

int kjoule_device_fd(const struct kjoule_device *dev)
{
	return dev->fd;
}

unsigned int kjoule_device_rings(const struct kjoule_device *dev)
{
	return dev->n_rings;
}

struct kjoule_ring_reader *kjoule_device_ring(struct kjoule_device *dev, unsigned int i)
{
	return i < dev->n_rings ? &dev->rings[i] : NULL;
}

static int device_map_ring(struct kjoule_device *dev, unsigned int i, struct kjoule_error *err)
{
	struct kjoule_ring_reader *r = &dev->rings[i];
	struct kjoule_ring ring = { .size = sizeof(ring), .index = i };
	size_t page = sysconf(_SC_PAGESIZE);
	void *map;

	if (ioctl(dev->fd, KJOULE_IOC_RING, &ring))
		return kjoule_fail(err, errno, "%s: ring %u: %s", KJOULE_DEVICE, i,
				   strerror(errno));
	if (!ring.data_size || (ring.data_size & (ring.data_size - 1)))
		return kjoule_fail(err, EPROTO, "%s: ring %u: a size of %llu bytes makes no sense",
				   KJOULE_DEVICE, i, (unsigned long long)ring.data_size);
	r->cpu = ring.cpu;
	r->size = ring.data_size;
	r->map_len = page + ring.data_size;
	map = mmap(NULL, r->map_len, PROT_READ, MAP_SHARED, dev->fd, ring.head_offset);
	if (map == MAP_FAILED)
		goto failed;
	r->map = map;
	r->head = map;
	r->data = (const uint8_t *)map + page;
	map = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, dev->fd, ring.tail_offset);
	if (map == MAP_FAILED)
		goto failed;
	r->tail = map;
	r->pos = r->tail->tail;
	return 0;

failed:
	return kjoule_fail(err, errno, "%s: mapping the ring of CPU %u (%zu bytes): %s",
			   KJOULE_DEVICE, ring.cpu, r->map_len, strerror(errno));
}

int kjoule_device_attach(struct kjoule_device *dev, uint32_t session, struct kjoule_error *err)
{
	struct kjoule_attach attach = { .size = sizeof(attach), .session = session };
	int ret;

	if (ioctl(dev->fd, KJOULE_IOC_ATTACH, &attach))
		return kjoule_fail(err, errno, "%s: attaching to session %u: %s", KJOULE_DEVICE,
				   session, strerror(errno));
	if (!attach.cpus || attach.cpus > KJOULE_MAX_CPUS)
		return kjoule_fail(err, EPROTO, "%s: a session of %u CPUs makes no sense",
				   KJOULE_DEVICE, attach.cpus);
	dev->rings = calloc(attach.cpus, sizeof(*dev->rings));
	if (!dev->rings)
		return kjoule_fail(err, ENOMEM, "no memory");
	for (dev->n_rings = 0; dev->n_rings < attach.cpus;) {
		ret = device_map_ring(dev, dev->n_rings++, err);
		if (ret)
			return ret;
	}
	return 0;
}
