#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/setup --kernel unpacks the newest release of a version next to the system, as any
# user, such that make and scripts/vm find it; what it cannot have is an error and leaves
# nothing behind. apt is the real one, its mirror a folder of made-up packages.
# where: host
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/ktap.sh
ktap_plan 21

dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
arch=$(dpkg --print-architecture)
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
compiler=gcc-$(gcc -dumpversion)
mkdir -p "$dir/mirror/pool"

package() {	# NAME VERSION DEPENDS: from the files in $dir/tree, which go
	mkdir -p "$dir/tree/DEBIAN"
	printf '%s\n' "Package: $1" "Version: $2" "Architecture: $arch" "Maintainer: none <none@example.org>" \
		"Depends: $3" "Description: made up" >"$dir/tree/DEBIAN/control"
	dpkg-deb --root-owner-group -Znone -b "$dir/tree" "$dir/mirror/pool/$1.deb" >/dev/null
	rm -rf "$dir/tree"
}

file() { mkdir -p "$dir/tree/$(dirname "$1")" && cat >"$dir/tree/$1"; }

kernel() {	# RELEASE COMPILER
	local base=${1%-*}
	file "boot/vmlinuz-$1" <<<"image of $1"
	file "lib/modules/$1/modules.order" </dev/null
	file "lib/modules/$1/modules.builtin" </dev/null
	ln -s "/usr/src/linux-headers-$1" "$dir/tree/lib/modules/$1/build"
	package "linux-image-$1" 1 "linux-base"
	file "usr/src/linux-headers-$1/Makefile" <<<"include /usr/src/linux-headers-$base-common/Makefile"
	file "usr/src/linux-headers-$1/vmlinux" </dev/null
	ln -s "../../lib/linux-kbuild-$base" "$dir/tree/usr/src/linux-headers-$1/scripts"
	package "linux-headers-$1" 1 "linux-headers-$base-common (= 1), linux-image-$1 (= 1), linux-kbuild-$base, $2"
	printf 'hello:\n\t@cat scripts/tool\n' | file "usr/src/linux-headers-$base-common/Makefile"
	package "linux-headers-$base-common" 1 "linux-base"
	file "usr/lib/linux-kbuild-$base/tool" <<<"the tool of $1"
	package "linux-kbuild-$base" 1 "libc6"
}

suite() {	# SUITE: all of the pool
	local at=$dir/mirror/dists/$1
	mkdir -p "$at/main/binary-$arch"
	for deb in "$dir"/mirror/pool/*.deb; do
		dpkg-deb -f "$deb"
		echo "Filename: pool/${deb##*/}"
		echo "Size: $(stat -c %s "$deb")"
		echo "SHA256: $(sha256sum "$deb" | cut -d' ' -f1)"
		echo
	done >"$at/main/binary-$arch/Packages"
	printf '%s\n' "Origin: Debian" "Suite: $1" "Codename: $1" "Architectures: $arch" "Components: main" \
		"Date: $(date -Ru)" "SHA256:" " $(sha256sum <"$at/main/binary-$arch/Packages" | cut -d' ' -f1) $(stat -c %s \
		"$at/main/binary-$arch/Packages") main/binary-$arch/Packages" >"$at/Release"
}

# Nine before ten by name only; other flavours, another version that begins alike, a package
# that only depends on the newest, one of a compiler that is not there.
kernel "9.12.9+x-$arch" "$compiler"
kernel "9.12.10+x-$arch" "$compiler"
kernel "9.12.11+x-rt-$arch" "$compiler"
kernel "9.120.1+x-$arch" "$compiler"
kernel "9.13.1+x-$arch" gcc-99
kernel "9.14.1+x-$arch" "$compiler"
package "linux-headers-9.12-$arch" 1 "linux-headers-9.12.10+x-$arch"
suite "$codename"
suite "$codename-backports"
rm "$dir/mirror/pool/linux-kbuild-9.14.1+x.deb"	# promised, but gone
chmod -R a+rX "$dir"

echo "deb [trusted=yes] file:$dir/mirror $codename main" >"$dir/sources.list"
cat >"$dir/apt.conf" <<END
Dir::Etc::SourceList "$dir/sources.list";
Dir::Etc::SourceParts "-";
Acquire::AllowInsecureRepositories "true";
APT::Get::AllowUnauthenticated "true";
END
export APT_CONFIG=$dir/apt.conf XDG_CACHE_HOME=$dir/cache
kernels=$XDG_CACHE_HOME/kjoule/kernels
mkdir "$XDG_CACHE_HOME"

# As someone who could not install anything; scripts where any user can read them.
mkdir -p "$dir/scripts"
cp -r scripts/setup scripts/lib "$dir/scripts"
user=
if [ "$(id -u)" = 0 ]; then
	user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	chown 65534:65534 "$XDG_CACHE_HOME"
fi
setup() { $user "$dir/scripts/setup" "$@"; }

release=9.12.10+x-$arch
home=$kernels/$release
check_output "the newest release of a version is fetched, without root" "kernel $release is in $home$" \
	setup --kernel 9.12
check_equal "and that alone" "$release" "$(ls "$kernels")"
check_equal "nothing else is left" "kjoule kernels .lock $release" \
	"$(cd "$XDG_CACHE_HOME" && echo ./* kjoule/* kjoule/kernels/.[!.]* kjoule/kernels/* | sed 's,[^ ]*/,,g')"
check_equal "the image is there" "image of $release" "$(cat "$home/boot/vmlinuz-$release")"
check "and a list of its modules" test -e "$home/lib/modules/$release/modules.dep"
check_equal "make finds the headers" "$home/lib/modules/$release/build" \
	"$(make -s --no-print-directory KVER="$release" kdir)"
check_equal "which find their common part and their tools" "the tool of $release" \
	"$(make -s -C "$home/lib/modules/$release/build" --no-print-directory hello 2>&1)"
check_fails "no vmlinux is there that a build would want pahole for" \
	test -e "$home/usr/src/linux-headers-$release/vmlinux"
check_equal "a guest is given it for the version" "$release $home/boot/vmlinuz-$release" \
	"$(cd vm && python3 -Bc 'import guest_boot; print(*guest_boot.kernel_find("9.12")[:2])')"

mv "$dir/mirror" "$dir/away"
check_equal "what is there is not fetched again" "" "$(setup --kernel 9.12 2>&1)"
check_equal "nor by its full name" "" "$(setup --kernel "$release" 2>&1)"
check_exit 1 "without the mirror it fails" setup --kernel 9.120
mv "$dir/away" "$dir/mirror"
check_output "another flavour is had by its full name" "kernel 9.12.11+x-rt-$arch is in " \
	setup --kernel "9.12.11+x-rt-$arch"

check_exit 1 "a version that the mirror lacks is an error" setup --kernel 9.1
check_output "that names what there is" "kernel 9.1: file:.* has none; it has: 9.12.9+x-$arch $release 9.13.1+x-$arch 9.14" \
	setup --kernel 9.1
check_output "a compiler that is missing is named" "is built with gcc-99, .* sudo apt-get install gcc-99$" \
	setup --kernel 9.13
check_exit 1 "a package that cannot be fetched is an error" setup --kernel 9.14
check_equal "after all of these nothing is left" ".lock $release 9.12.11+x-rt-$arch" \
	"$(cd "$kernels" && echo .[!.]* ./* | sed 's,\./,,g')"
check_exit 1 "what is no version is an error" setup --kernel ../x
check_exit 2 "a version must be given" setup --kernel
check_exit 2 "an unknown option is a usage error" setup --kernels 9.12
ktap_end
