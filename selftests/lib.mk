# SPDX-License-Identifier: GPL-2.0-or-later
# How a collection of selftests is built and installed, as kselftest's lib.mk does it. A
# collection is a folder with a Makefile that names its parts and includes this; it is
# called by ../Makefile.
#
#   TEST_PROGS      scripts that are tests
#   TEST_GEN_PROGS  tests that are built, each from its .c and the HELPERS
#   TEST_FILES      what tests need next to them, as it is
#   TEST_GEN_FILES  the same, built by others below OUTPUT's folder
#   HELPERS         .c files that are linked to every program, from here or ../kmod
#   settings        a file with timeout=SECONDS for its tests; those whose source says in its
#                   head that they need more ("timeout: SECONDS") have that, added by install

BUILD ?= $(abspath ../../build/selftests)
COLLECTION ?= $(notdir $(CURDIR))
OUTPUT := $(abspath $(BUILD))/$(COLLECTION)
OBJ := $(abspath $(BUILD))/objects
TOP := $(abspath ../..)
V ?=
Q = $(if $(V),,@)
CC ?= gcc
CFLAGS ?= -O2 -g
WARN = -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wshadow -Wpointer-arith
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARN) -I$(TOP)/include/uapi $(CFLAGS)
# An installed suite brings libmnl along.
ALL_LDFLAGS = -Wl,-rpath,'$$ORIGIN/../lib' $(LDFLAGS)
LIBS = -lmnl -lpthread -lm

PROGS = $(TEST_GEN_PROGS:%=$(OUTPUT)/%)
# kmod's nl.c of silicon/ is the object of kmod's own nl.c
object = $(OBJ)/$(if $(filter ../%,$1),kmod,$(COLLECTION))/$(notdir $(1:.c=.o))
OBJECTS = $(foreach f,$(HELPERS),$(call object,$(f)))

.PHONY: all install emit_tests run_tests
.SECONDARY:
all: $(PROGS)

$(OBJ)/$(COLLECTION)/%.o: %.c Makefile $(TOP)/selftests/lib.mk
	@mkdir -p $(@D)
	@echo "  CC      $(COLLECTION)/$*.o"
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $(abspath $<)

# It compares the module's version.
$(OBJ)/kmod/test_values.o: $(TOP)/VERSION
$(OBJ)/kmod/test_values.o: ALL_CFLAGS += -DKJOULE_VERSION='"$(shell cat $(TOP)/VERSION)"'

$(OBJ)/kmod/%.o: $(TOP)/selftests/kmod/%.c $(TOP)/selftests/lib.mk
	@mkdir -p $(@D)
	@echo "  CC      kmod/$*.o"
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $(abspath $<)

$(OUTPUT)/%: $(OBJ)/$(COLLECTION)/%.o $(OBJECTS)
	@mkdir -p $(@D)
	@echo "  LD      $(COLLECTION)/$*"
	$(Q)$(CC) $(CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

install: all
	@mkdir -p $(INSTALL_PATH)/$(COLLECTION)
	$(Q)install -m 755 $(TEST_PROGS) $(PROGS) $(INSTALL_PATH)/$(COLLECTION)/
	$(Q)$(if $(TEST_GEN_FILES),install -m 755 $(abspath $(TEST_GEN_FILES:%=$(OUTPUT)/%)) $(INSTALL_PATH)/$(COLLECTION)/)
	$(Q)install -m 644 settings $(TEST_FILES) $(INSTALL_PATH)/$(COLLECTION)/
	$(Q)all=$$(sed -n 's/^timeout=//p' settings); for t in $(TEST_PROGS) $(TEST_GEN_PROGS); do \
		from=$$t; [ -f $$from ] || from=$$t.c; \
		own=$$(sed -n '1,40s/^[ #*]*timeout: *\([0-9][0-9]*\) *$$/\1/p' $$from); \
		[ "$${own:-0}" -le "$$all" ] || echo "timeout_$$(printf %s $$t | tr -c a-zA-Z0-9 _)=$$own"; \
	done >>$(INSTALL_PATH)/$(COLLECTION)/settings

emit_tests:
	@printf '$(COLLECTION):%s\n' $(sort $(notdir $(TEST_PROGS) $(TEST_GEN_PROGS)))

run_tests:
	+$(Q)$(MAKE) --no-print-directory -C .. BUILD=$(BUILD) TARGETS=$(COLLECTION) run_tests

-include $(wildcard $(OBJ)/$(COLLECTION)/*.d)
