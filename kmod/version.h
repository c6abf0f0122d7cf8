/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's version, shown by modinfo, sysfs and KJOULE_IOC_INFO. */
#ifndef KJOULE_VERSION_H
#define KJOULE_VERSION_H

#define KJOULE_VERSION	"0.1.0"

#endif /* KJOULE_VERSION_H */
