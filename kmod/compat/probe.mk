# SPDX-License-Identifier: GPL-2.0-only
#
# $(call kjoule-probes,FOLDER,NAME...): -DHAVE_<NAME> for each FOLDER/<NAME>.c that this
# kernel can compile. Included by the Kbuild of every module that has such probes.
kjoule-probe = $(shell $(CC) $(NOSTDINC_FLAGS) $(LINUXINCLUDE) $(KBUILD_CPPFLAGS) $(KBUILD_CFLAGS) \
	-DMODULE -DKBUILD_MODNAME='"probe"' -DKBUILD_BASENAME='"probe"' -c -o /dev/null \
	$(1)/$(2).c 2>/dev/null && echo -DHAVE_$(2))
kjoule-probes = $(foreach p,$(2),$(call kjoule-probe,$(1),$(p)))
