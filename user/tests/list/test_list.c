// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What kjoule list says of sources, from the module's messages on.
 */
#include <math.h>
#include <string.h>
#include <json-c/json.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <linux/kjoule_netlink.h>
#include "lib/control/netlink.h"
#include "list/list.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

/* A source as the module tells of it; @ready_ns 0: of no meter that starts on command. */
static struct kjoule_source_info tell(const char *name, uint64_t ready_ns)
{
	struct kjoule_source_info src = { .ready_ns = 0 };
	struct nl_msg *msg = nlmsg_alloc();
	struct nlattr *nest;

	nla_put_string(msg, KJOULE_A_SOURCE_NAME, name);
	nla_put_u32(msg, KJOULE_A_SOURCE_KIND, KJOULE_KIND_GAUGE);
	nla_put_u32(msg, KJOULE_A_SOURCE_AVAILABLE, 1);
	nest = nla_nest_start(msg, KJOULE_A_SOURCE_DOMAIN);
	nla_put_string(msg, KJOULE_A_DOMAIN_NAME, "power");
	nla_put_u32(msg, KJOULE_A_DOMAIN_QUANTITY, KJOULE_QUANTITY_POWER);
	nla_put_u64(msg, KJOULE_A_DOMAIN_UNIT_MULT, 1);
	nla_nest_end(msg, nest);
	if (ready_ns)
		nla_put_u64(msg, KJOULE_A_SOURCE_READY_NS, ready_ns);
	assert_int_equal(kjoule_parse_source(nlmsg_data(nlmsg_hdr(msg)),
					     nlmsg_datalen(nlmsg_hdr(msg)), &src), 0);
	nlmsg_free(msg);
	return src;
}

static char *print(const struct list_sources *s, enum output_format format)
{
	begin_to_read();
	assert_int_equal(list_sources_print(s, format), 0);
	return end_to_read();
}

TEST(a_meter_that_starts_on_command_says_so)
{
	struct kjoule_source_info sources[] =
		{ tell("vchip-ina", 20000000), tell("vchip-meter", 0) };
	struct list_sources s = { .kernel = sources, .n_kernel = 2 };
	char *text = print(&s, OUTPUT_TABLE), *second = strstr(text, "vchip-meter");
	struct json_object *doc, *row;

	assert_true(says(text, "available; starts on command, mean over 20 ms"));
	/* the one and not the other */
	assert_non_null(second);
	assert_null(strstr(second, "starts on command"));
	text = print(&s, OUTPUT_JSON);
	doc = json_tokener_parse(text);
	assert_non_null(doc);
	row = json_object_array_get_idx(doc, 0);
	assert_true(json_object_get_boolean(member(row, "starts_on_command")));
	assert_true(near(number(row, "ready_ns"), 20e6, 0));
	row = json_object_array_get_idx(doc, 1);
	assert_false(json_object_get_boolean(member(row, "starts_on_command")));
	assert_true(isnan(number(row, "ready_ns")));
	json_object_put(doc);
	text = print(&s, OUTPUT_CSV);
	assert_true(says(text, ",starts_on_command,ready_ns,"));
}
