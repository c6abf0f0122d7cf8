#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/setup does nothing, quickly, when all is there; as root it installs what is
# missing and as anyone else it only says what and how. dpkg-query and apt-get are
# made up here: nothing is installed.
# where: host
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/ktap.sh
ktap_plan 17

dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cp scripts/setup "$dir/setup"	# where any user can read it
mkdir "$dir/apt" "$dir/dpkg"
printf '#!/bin/sh\necho "apt-get $*"\n' >"$dir/apt/apt-get"
# All packages are installed but those in $absent; of some only the settings are left. QEMU's version is $qemu_there.
cat >"$dir/dpkg/dpkg-query" <<'END'
#!/bin/sh
for package in "$@"; do
	case " $absent " in
	" all ") ;;
	*" $package "*) echo "config-files $package" ;;
	*) [ $package = qemu-system-x86 ] && version=${qemu_there:-1:7.2+dfsg-7} || version=1
		echo "installed $package $version" ;;
	esac
done
END
chmod 755 "$dir/apt/apt-get" "$dir/dpkg/dpkg-query"

setup() { PATH=$dir/apt:$PATH "$dir/setup"; }
# shellcheck disable=SC2086	# none, or one
setup_without() { absent=$1 PATH=$dir/dpkg:$dir/apt:$PATH ${2-} "$dir/setup" ${3-}; }

user=
[ "$(id -u)" != 0 ] || user="setpriv --reuid=65534 --regid=65534 --clear-groups"

# On a machine that is ready, which is one that runs the tests.
TIMEFORMAT="%0U + %0S"
code=0
{ time { first=$(setup 2>&1) || code=1; second=$(setup 2>&1) || code=1; }; } 2>"$dir/took"
check_equal "run twice with all there, it succeeds" 0 $code
check_equal "and does and says nothing" "" "$first$second"
check "quickly, by its CPU time" test $(($(cat "$dir/took"))) -lt 4
check_equal "the same with a package database that has all" "" "$(setup_without none 2>&1)"

said=$(setup_without all "$user" 2>&1)
check_equal "an ordinary user without the packages gets exit code 1" 1 $?
check_output "and the packages' names" "packages are missing: gcc make .*python3-docutils .*pigz zsh fish qemu-system-x86=1:7.2[+][*]$" \
	echo "$said"
check_output "and the command" "sudo apt-get update && sudo apt-get install -y --no-install-recommends gcc make " \
	echo "$said"
check_equal "nothing is installed" 0 "$(grep -c '^apt-get' <<<"$said")"
said=$(setup_without "cpio valgrind" "$user" 2>&1)
check_equal "of which two are missing, two are named" \
	"scripts/setup: these packages are missing: cpio valgrind" "$(head -1 <<<"$said")"

said=$(qemu_there=1:10.0.2 setup_without "" "$user" 2>&1)
check_equal "another QEMU than the chip knows has to go first" \
	"scripts/setup: qemu-system-x86 1:10.0.2 is installed, the laboratory's chip needs 1:7.2+*; remove it first: apt-get remove qemu-system-x86 qemu-system-common qemu-system-data" "$(head -1 <<<"$said")"

check_equal "what fuzzing needs is not asked for" "" "$(setup_without "clang llvm" "$user" 2>&1)"
said=$(setup_without "clang llvm" "$user" --fuzz 2>&1)
check_equal "unless it is meant" "scripts/setup: these packages are missing: clang llvm" \
	"$(head -1 <<<"$said")"
setup_without none "$user" --debug >"$dir/out" 2>&1
check_equal "another switch is a usage error" 2 $?
check_equal "what only the debug kernel needs is not asked for" "" "$(setup_without "flex bison bc" "$user" 2>&1)"
said=$(setup_without "flex bison bc" "$user" --debug-kernel 2>&1)
check_equal "but with --debug-kernel it is" "scripts/setup: these packages are missing: flex bison bc" \
	"$(head -1 <<<"$said")"

if [ -n "$user" ]; then
	said=$(setup_without "cpio valgrind" 2>&1)
	check_equal "root goes on" 0 $?
	check_equal "and installs what is missing, and that alone" \
		"apt-get update apt-get install -y --no-install-recommends cpio valgrind" "$(grep '^apt-get' <<<"$said" | xargs)"
else
	ktap_skip "root goes on" "not run by root"
	ktap_skip "and installs what is missing, and that alone" "not run by root"
fi
ktap_end
