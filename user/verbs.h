/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verbs. Each takes its own arguments (argv[0] is its name) and returns the
 * exit code: 0 done, 1 failed, 2 usage. Called by main.c.
 */
#ifndef KJOULE_VERBS_H
#define KJOULE_VERBS_H

int cmd_annotate(int argc, char **argv);
int cmd_boost(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_sweep(int argc, char **argv);

#endif /* KJOULE_VERBS_H */
