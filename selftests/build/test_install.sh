#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `make install-user` puts in place works and `make uninstall` takes it away; what
# `make dkms` hands over is all that the module needs, built as DKMS would build it.
# where: host
# timeout: 420
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/ktap.sh
unset MAKEFLAGS MAKEOVERRIDES MFLAGS KJOULE_TOP DESTDIR PREFIX

dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
dest=$dir/dest

binary_runs() {
	local said
	said=$("$dest/usr/local/bin/kjoule" --version) && echo "$said" && [[ $said == "kjoule $(<VERSION) (ABI "* ]]
}

# A page for each of the sources, and each is one.
pages_are_there() {
	local source page
	for source in Documentation/man/*.[1-8].rst; do
		page=$(basename "$source" .rst)
		grep '^\.TH' "$dest/usr/local/share/man/man${page##*.}/$page" || return 1
	done
}

# A program in C and one in C++ find what they need where it was put.
programs_are_built() {
	local prefix=$dest/usr/local
	cat >"$dir/marks.c" <<-END
		#include <kjoule/region.h>
		int main(void) { kjoule_region_begin("x"); kjoule_region_end(); return kjoule_region_recorded(); }
	END
	cat >"$dir/marks.cc" <<-END
		#include <kjoule/region.h>
		int main() { kjoule::region all("all"); return kjoule_region_recorded(); }
	END
	gcc -std=c11 -pedantic -Wall -Wextra -Werror -I"$prefix/include" -o "$dir/marks" "$dir/marks.c" -L"$prefix/lib" -lkjoule-region &&
		"$dir/marks" || return
	command -v g++ >/dev/null || return 0
	g++ -std=c++11 -pedantic -Wall -Wextra -Werror -I"$prefix/include" -o "$dir/marks" "$dir/marks.cc" -L"$prefix/lib" -lkjoule-region &&
		"$dir/marks"
}

left() { (cd "$dest" && find . -type f | sort); }

check "make install-user" make -s install-user DESTDIR="$dest"
check "the installed binary runs, and is of VERSION" binary_runs
check "every manual page is there" pages_are_there
check "programs in C and C++ can mark regions with what was installed" programs_are_built
for shell in bash:bash-completion/completions/kjoule zsh:zsh/site-functions/_kjoule fish:fish/vendor_completions.d/kjoule.fish; do
	check "so is the completion for ${shell%%:*}" cmp "user/cli/completion/kjoule.${shell%%:*}" "$dest/usr/local/share/${shell#*:}"
done
check "make install-user with a PREFIX" make -s install-user DESTDIR="$dest" PREFIX=/opt/k
check "puts all of it there" diff -r "$dest/usr/local" "$dest/opt/k"
touch "$dest/usr/local/bin/other" "$dest/usr/local/share/man/man1/other.1"
check "make uninstall" make -s uninstall DESTDIR="$dest"
check "make uninstall with a PREFIX" make -s uninstall DESTDIR="$dest" PREFIX=/opt/k
check_equal "leave nothing but what others have put there" \
	"./usr/local/bin/other ./usr/local/share/man/man1/other.1" "$(left | xargs)"

# DKMS copies the source to a tree of its own and runs the lines of dkms.conf.
dkms_line() {	# NAME KERNEL
	(
		# shellcheck disable=SC2034	# for what is sourced below
		kernel_source_dir=/lib/modules/$2/build dkms_tree=$dir/tree
		. "$source/dkms.conf"
		declare -n line=$1
		echo "$line"
	)
}

dkms_run() {
	local line
	line=$(dkms_line "$@") && [ -n "$line" ] && (cd "$dir" && eval "$line")
}

check "make dkms" make -s dkms DESTDIR="$dest"
source=$(echo "$dest"/usr/src/kjoule-*)
version=$(dkms_line PACKAGE_VERSION any)
check_equal "the source lies where DKMS looks for it" "$dest/usr/src/kjoule-$version" "$source"
check_equal "with the version of VERSION" "$(<VERSION)" "$version"
build=$dir/tree/kjoule/$version/build
kernels=0
for kernel in /lib/modules/*/build; do
	kernel=$(basename "$(dirname "$kernel")")
	[ -e "/lib/modules/$kernel/build/Makefile" ] || continue
	kernels=$((kernels + 1))
	rm -rf "$dir/tree" && mkdir -p "${build%/*}" && cp -r "$source" "$build"
	check "it builds alone for $kernel" dkms_run 'MAKE[0]' "$kernel"
	module=$build/$(dkms_line 'BUILT_MODULE_NAME[0]' "$kernel").ko
	check_equal "and is the version that dkms.conf says" "$version" "$(/sbin/modinfo -F version "$module" 2>&1)"
	check_equal "for that kernel" "$kernel" "$(/sbin/modinfo -F vermagic "$module" 2>&1 | cut -d' ' -f1)"
	check "its CLEAN line works" dkms_run CLEAN "$kernel"
	check "and leaves nothing built" test ! -e "$module"
done
check "there was a kernel to build for" test $kernels -gt 0
ktap_end
