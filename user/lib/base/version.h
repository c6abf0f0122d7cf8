/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tool's version.
 */
#ifndef KJOULE_VERSION_H
#define KJOULE_VERSION_H


#define KJOULE_VERSION	"0.1.0"

#endif /* KJOULE_VERSION_H */
