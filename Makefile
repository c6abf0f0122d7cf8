# SPDX-License-Identifier: GPL-2.0-or-later
# The one entry to everything: builds module, command-line tool, virtual chip and
# tests into build/, and runs the demonstration and the tests. What goes into each
# part is in that part's own Makefile or Kbuild.

SHELL := /bin/bash
TOP := $(CURDIR)
BUILD := $(TOP)/build
PREFIX ?= /usr/local
DESTDIR ?=

# The kernel to build modules for: the newest one with headers, which the laboratory
# boots. `make install` builds for the running one. KVER can also be a release that
# scripts/setup --kernel has put next to the system.
KVER ?= $(notdir $(patsubst %/build,%,$(lastword $(shell ls -d /lib/modules/*/build 2>/dev/null | sort -V))))
KERNELS = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kjoule/kernels
KDIRS = $(addsuffix /modules/$(KVER)/build,/lib $(KERNELS)/$(KVER)/lib)
KDIR ?= $(firstword $(foreach d,$(KDIRS),$(if $(wildcard $(d)/Makefile),$(d))) $(KDIRS))
KOUT = $(BUILD)/kmod-$(KVER)
JOBS := $(shell nproc)

.PHONY: all kmod user vchip selftests man demo check check-quick check-all check-debug golden-update
.PHONY: install install-kmod install-user dkms uninstall clean help

all: kmod user vchip selftests man

help:
	@echo 'make demo       install what is missing, build (3 to 8 minutes), record on the virtual chip'
	@echo 'make check      install what is missing, build, run the tests (17 minutes on two cores)'
	@echo 'make check-quick  of these what needs no guest: unit and golden tests under sanitizers, style (3 minutes)'
	@echo 'make golden-update  write what the tool prints as what the golden tests want; read it with git diff'
	@echo 'make check-all  the same, and what takes long: benchmarks, valgrind, the selftests on other machines'
	@echo 'make check-debug  run the tests of the modules on a kernel full of checkers, built once'
	@echo 'make            build all: kmod, user, vchip, selftests'
	@echo 'make kmod       the kernel modules, for KVER=$(KVER)'
	@echo 'make user       libkjoule, what programs mark regions with, and the command-line tool'
	@echo 'make vchip      the virtual chip'
	@echo 'make selftests  the test programs'
	@echo 'make install    module for the running kernel, tool, manual pages (PREFIX=$(PREFIX))'
	@echo 'make dkms       hand the module source to DKMS, which rebuilds it for each kernel'
	@echo 'make uninstall  remove what install and dkms put there'
	@echo 'make clean      remove build/'
	@echo 'C=1 checks the modules with sparse, V=1 shows commands; CHECK="-v NAME" goes to the test runner'
	@echo 'one test, after make: selftests/run.sh -v NAME'

# Kernel modules -----------------------------------------------------------------------
# Kbuild writes next to its sources, so it works on a mirror of them below build/.
# $(call mirror,from,to): copy what is newer, drop sources that are gone.
define mirror
	mkdir -p $(2) && cp -ru --preserve=timestamps $(1)/. $(2)/ && cd $(2) && \
	find . \( -name '*.[ch]' -o -name Kbuild \) ! -name '*.mod.c' | \
	while read -r f; do [ -e "$(1)/$$f" ] || rm -f "$$f"; done
endef
KBUILD = $(MAKE) -C $(KDIR) KJOULE_TOP=$(TOP) W=1

kmod:
	@[ -n '$(KVER)' ] && [ -e $(KDIR)/Makefile ] || \
		{ echo 'no headers of kernel $(KVER) in /lib/modules or $(KERNELS); run scripts/setup$(if $(KVER), --kernel $(KVER))' >&2; exit 1; }
	@mkdir -p $(KOUT)
	+@flock $(KOUT)/.lock $(MAKE) --no-print-directory kmod-locked

.PHONY: kmod-locked kmod-kjoule kdir
kmod-locked: kmod-kjoule
ifneq ($(wildcard vchip/driver/Kbuild),)
	@$(call mirror,$(TOP)/vchip/driver,$(KOUT)/vchip)
	+$(KBUILD) M=$(KOUT)/vchip $(if $(wildcard kmod/Kbuild),KBUILD_EXTRA_SYMBOLS=$(KOUT)/kjoule/Module.symvers,KBUILD_MODPOST_WARN=1) modules
endif
ifneq ($(shell grep -s '^CONFIG_KASAN=y' $(KDIR)/.config),)
	@$(call mirror,$(TOP)/vm/fault,$(KOUT)/fault)
	$(KBUILD) M=$(KOUT)/fault modules
endif

kmod-kjoule:
ifneq ($(wildcard kmod/Kbuild),)
	@$(call mirror,$(TOP)/kmod,$(KOUT)/kjoule)
	+$(KBUILD) M=$(KOUT)/kjoule modules
endif

# For scripts: where the headers are.
kdir:
	@echo $(KDIR)

# User space ---------------------------------------------------------------------------
# $(call part,folder,output): build a part that has a Makefile of its own.
define part
	@mkdir -p $(2)
	$(if $(wildcard $(1)/Makefile),+$(MAKE) -C $(1) BUILD=$(2))
endef

user:
	$(call part,user,$(BUILD)/user)

vchip:
	$(call part,vchip/silicon,$(BUILD)/vchip)

selftests: user
	+$(MAKE) -C selftests BUILD=$(BUILD)/selftests laboratory

# Manual pages, from reStructuredText
MAN = $(patsubst Documentation/man/%.rst,build/man/%,$(wildcard Documentation/man/*.[1-8].rst))
man: $(MAN)

build/man/%: Documentation/man/%.rst
	@mkdir -p $(@D)
	rst2man --halt=warning $< $@

# The two commands ---------------------------------------------------------------------
# Each in a make of its own, after setup: what setup installs decides what is built.
demo:
	scripts/setup
	+@$(MAKE) --no-print-directory -j$(JOBS) all
	scripts/demo

check:
	scripts/setup
	+@$(MAKE) --no-print-directory -j$(JOBS) all
	+@$(MAKE) --no-print-directory -j$(JOBS) -C user BUILD=$(BUILD)/user asan
	@selftests/run.sh $(CHECK)

# Before each commit: what needs no guest, from one build of the tool.
check-quick:
	scripts/setup
	+@$(MAKE) --no-print-directory -j$(JOBS) -C user BUILD=$(BUILD)/user asan
	@KJOULE_TEST_QUICK=1 selftests/run.sh user/sanitizers kmod/style

golden-update: user
	@selftests/user/test_golden.py --update
	@selftests/user/test_examples.py --update

# The same, and the tests that take too long for every change.
check-all:
	@$(MAKE) --no-print-directory check CHECK='--all $(CHECK)'

# The same on the debug kernel, for what runs in guests.
check-debug:
	scripts/setup --debug-kernel
	+@$(MAKE) --no-print-directory -j$(JOBS) all
	+@kernel=$$(scripts/debug-kernel) && release=$$(ls $$kernel/lib/modules) && \
	$(MAKE) --no-print-directory kmod KVER=$$release KDIR=$$kernel/lib/modules/$$release/build
	@selftests/run.sh --debug $(CHECK)

# Installation -------------------------------------------------------------------------
install: install-user install-kmod

install-kmod:
	+@$(MAKE) --no-print-directory KVER=$$(uname -r) kmod-install-for

.PHONY: kmod-install-for
kmod-install-for:
	@[ -e $(KDIR)/Makefile ] || { echo 'no headers for the running kernel $(KVER); on Debian: apt-get install linux-headers-$(KVER)' >&2; exit 1; }
	+@mkdir -p $(KOUT) && flock $(KOUT)/.lock $(MAKE) --no-print-directory kmod-kjoule
	$(MAKE) -C $(KDIR) M=$(KOUT)/kjoule INSTALL_MOD_DIR=updates $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install
	$(if $(DESTDIR),,depmod $(KVER))

# Where a shell looks for completion.
SHELLS = bash:bash-completion/completions/kjoule zsh:zsh/site-functions/_kjoule \
	fish:fish/vendor_completions.d/kjoule.fish

install-user: user man
	install -D -m 755 build/user/kjoule $(DESTDIR)$(PREFIX)/bin/kjoule
	@for page in $(MAN); do \
		install -v -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit 1; done
	install -D -m 644 include/kjoule/region.h $(DESTDIR)$(PREFIX)/include/kjoule/region.h
	install -D -m 644 build/user/libkjoule-region.a $(DESTDIR)$(PREFIX)/lib/libkjoule-region.a
	@for shell in $(SHELLS); do install -v -D -m 644 user/cli/completion/kjoule.$${shell%%:*} \
		$(DESTDIR)$(PREFIX)/share/$${shell#*:} || exit 1; done

VERSION := $(shell cat VERSION)
DKMS_SRC = $(DESTDIR)/usr/src/kjoule-$(VERSION)
# DKMS does not take a version that it has already, and keeps older ones.
DKMS_REMOVE = for d in /usr/src/kjoule-*/; do [ -d "$$d" ] || continue; v=$${d\#/usr/src/kjoule-}; v=$${v%/}; \
	if dkms status -m kjoule -v "$$v" 2>/dev/null | grep -q .; then dkms remove -m kjoule -v "$$v" --all || exit 1; fi; \
	rm -rf "$$d"; done
dkms:
	$(if $(DESTDIR),,@command -v dkms >/dev/null || { echo 'make dkms: there is no dkms here: install it, or use make install' >&2; exit 1; })
	$(if $(DESTDIR),,$(DKMS_REMOVE))
	rm -rf $(DKMS_SRC)
	mkdir -p $(DKMS_SRC)/include
	cp -r kmod/. $(DKMS_SRC)/
	cp -r include/uapi $(DKMS_SRC)/include/
	cp VERSION $(DKMS_SRC)/
	sed 's/#MODULE_VERSION#/$(VERSION)/' kmod/dkms.conf >$(DKMS_SRC)/dkms.conf
	$(if $(DESTDIR),,dkms add -m kjoule -v $(VERSION) && dkms install -m kjoule -v $(VERSION))

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/kjoule
	@for shell in $(SHELLS); do rm -f $(DESTDIR)$(PREFIX)/share/$${shell#*:}; done
	rm -f $(DESTDIR)$(PREFIX)/share/man/man[1-8]/kjoule* $(DESTDIR)$(PREFIX)/lib/libkjoule-region.a
	rm -f $(DESTDIR)$(PREFIX)/include/kjoule/region.h && rmdir $(DESTDIR)$(PREFIX)/include/kjoule 2>/dev/null || true
	rm -f $(DESTDIR)/lib/modules/$$(uname -r)/updates/kjoule.ko*
	$(if $(DESTDIR),,$(DKMS_REMOVE))
	rm -rf $(DKMS_SRC)
	$(if $(DESTDIR),,depmod)

clean:
	rm -rf build
