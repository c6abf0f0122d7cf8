/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The list of sessions: found by id, walked by front ends, ended with their owner, called for CPU
 * hotplug and suspend.
 */
#ifndef KJOULE_SESSION_LIST_H
#define KJOULE_SESSION_LIST_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct kjoule_session;
struct kjoule_session_config;

int kjoule_sessions_init(void);
void kjoule_sessions_exit(void);
int kjoule_session_list(struct kjoule_session *s, const struct kjoule_session_config *c,
			const char **why);
bool kjoule_session_unlist(struct kjoule_session *s, kuid_t by);
kuid_t kjoule_session_ended_by(u32 id);
void kjoule_session_ended(struct kjoule_session *s);
struct kjoule_session *kjoule_session_get(u32 id);
struct kjoule_session *kjoule_session_get_next(u32 id);
unsigned int kjoule_session_count(void);
bool kjoule_sessions_suspended(void);

#endif
