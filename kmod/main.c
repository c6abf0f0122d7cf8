// SPDX-License-Identifier: GPL-2.0-only
/*
 * Init and exit of the module: sources first, then the core, then the front ends, so that nothing
 * is reachable before it is ready; exit in reverse order.
 */
#include <linux/module.h>

#include "device.h"
#include "method/edge/edge.h"
#include "method/transition/restore.h"
#include "method/transition/transition.h"
#include "method/vpm/vpm.h"
#include "netlink/netlink.h"
#include "sampler/load.h"
#include "sampler/switch.h"
#include "sampler/target.h"
#include "session/list.h"
#include "session/session.h"
#include "source/source.h"
#include "sysfs/sysfs.h"

/* Created, started and halted in this order. */
static void __init methods_register(void)
{
	kjoule_method_register(&kjoule_edge_method);
	kjoule_method_register(&kjoule_vpm_method);
	kjoule_netlink_add_method(&kjoule_vpm_netlink);
	if (IS_ENABLED(CONFIG_CPU_FREQ))
		kjoule_netlink_add_method(&kjoule_transition_netlink);
}

static int __init kjoule_init(void)
{
	int err;

	kjoule_targets_init();
	kjoule_switch_init();
	kjoule_load_init();
	methods_register();
	err = kjoule_builtin_init();
	if (err)
		return err;
	err = kjoule_session_end_init();
	if (err)
		goto err_builtin;
	err = kjoule_sessions_init();
	if (err)
		goto err_session;
	err = kjoule_device_init();
	if (err)
		goto err_sessions;
	err = kjoule_sysfs_init(kjoule_device_kobj());
	if (err)
		goto err_chardev;
	kjoule_debugfs_init();
	/* from here on user space can pin the module: nothing may fail after this */
	err = kjoule_netlink_init();
	if (err)
		goto err_stats;
	kjoule_device_set_ready();
	return 0;

err_stats:
	kjoule_debugfs_exit();
	kjoule_sysfs_exit();
err_chardev:
	kjoule_device_exit();
err_sessions:
	kjoule_sessions_exit();
err_session:
	kjoule_session_end_exit();
err_builtin:
	kjoule_builtin_exit();
	return err;
}

static void __exit kjoule_exit(void)
{
	kjoule_netlink_exit();
	kjoule_debugfs_exit();
	kjoule_sysfs_exit();
	kjoule_device_exit();
	if (IS_ENABLED(CONFIG_CPU_FREQ)) {
		kjoule_transition_exit();
		kjoule_restore_exit();
		kjoule_governor_exit();
	}
	kjoule_sessions_exit();
	kjoule_session_end_exit();
	kjoule_builtin_exit();
	kjoule_switch_exit();
	kjoule_targets_exit();
}

module_init(kjoule_init);
module_exit(kjoule_exit);

MODULE_DESCRIPTION("Samples code, energy and frequency with one clock");
MODULE_AUTHOR("The kjoule developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(KJOULE_VERSION);
