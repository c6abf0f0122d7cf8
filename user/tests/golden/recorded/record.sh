#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Record the programs of the manual pages anew, in a guest. With "build": build them before, on the
# host (Debian's musl-tools).
set -eu
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../../../..")
there=/tmp/kjoule-recorded
if [ "${1:-}" = build ]; then
	static=(-g -static "-Wl,--build-id=sha1" "-ffile-prefix-map=$top=$there"
		"-ffile-prefix-map=$here=$there" -idirafter /usr/include
		-idirafter "/usr/include/$(gcc -print-multiarch)")
	for side in before after; do
		(cd "$here/$side" && musl-gcc -O1 -fno-inline "${static[@]}" -o sales sales.c -lm)
	done
	for program in mix turns; do
		musl-gcc -O2 "${static[@]}" -I"$top/workloads" -o "$here/$program" "$top/workloads/$program.c" -lm
	done
	musl-gcc -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls "${static[@]}" -I"$top/workloads" \
		-o "$here/callers_fp" "$top/workloads/callers.c" -lm
	exit
fi
rm -rf "$there"
mkdir -p "$there/tool"
cp -r "$here/." "$there/"
cd "$there"
rm -rf ./*.data kjoule.sweep
# the tool's own samples have no names anywhere: neither it nor its libraries will be there
cp "$top/build/user/kjoule" tool/
ldd tool/kjoule | awk '/=>/ { print $3 }' | xargs cp -t tool/
cp /lib64/ld-linux-x86-64.so.2 tool/ld.so
kjoule=("$there/tool/ld.so" --library-path "$there/tool" "$there/tool/kjoule")
export LC_ALL=C.UTF-8
"${kjoule[@]}" record -o mix.data -- ./mix 10 10
"${kjoule[@]}" record -o before.data -- before/sales
"${kjoule[@]}" record -o after.data -- after/sales
"${kjoule[@]}" record --call-graph dwarf -o dwarf.data -- ./callers_fp 3
"${kjoule[@]}" sweep --freq 50MHz,75MHz,100MHz --threads 1,2 -F 500 -- ./turns 3 10 '{threads}'
cp -r ./*.data kjoule.sweep "$here/"
