/* SPDX-License-Identifier: GPL-2.0-only */
/* A shipped profile for a test of the silicon, or the end of the test. */
#ifndef VCHIP_SHIPPED_H
#define VCHIP_SHIPPED_H

#include <stdio.h>
#include <stdlib.h>

#include "profile.h"

static inline void shipped(struct profile *profile, const char *name)
{
	char path[512], error[512];

	snprintf(path, sizeof(path), "%s%s.profile", PROFILES, name);
	if (profile_load(profile, path, error, sizeof(error))) {
		printf("Bail out! %s\n", error);
		exit(1);
	}
}

#endif /* VCHIP_SHIPPED_H */
