// SPDX-License-Identifier: GPL-2.0-only
#include <net/genetlink.h>

const struct genl_multicast_group probe = { .flags = GENL_MCAST_CAP_SYS_ADMIN };
