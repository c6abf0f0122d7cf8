# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel and initrd of a laboratory guest.

Finds the kernel (or has scripts/debug-kernel make one), unpacks it to the ELF file that
QEMU starts directly, packs the initrd with what mounts the root (vm/init), and
keeps both in a cache that knows what they were made of. Called by scripts/vm only.
"""
import fcntl
import glob
import hashlib
import lzma
import os
import re
import stat
import struct
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEBUG = "debug"    # the name of that kernel
PVH_NOTE = struct.pack("<III4s", 4, 8, 18, b"Xen")    # where a kernel built with CONFIG_PVH is entered
GUEST_MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay")


# Where scripts/setup --kernel unpacks kernels next to the system, one folder a release.
KERNELS = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "kjoule/kernels")


class VmError(Exception):
    """Something that keeps the guest from running: message for the user."""


def kernel_debug():
    """Return the folder of the debug kernel, made if need be."""
    made = subprocess.run([os.path.join(TOP, "scripts/debug-kernel")], stdout=subprocess.PIPE, text=True)
    if made.returncode:
        raise VmError("there is no debug kernel")
    return made.stdout.strip()


def kernel_find(wanted):
    """Return (release, kernel image, module folder) of the newest kernel that matches."""
    def key(r):
        return [int(x) if x.isdigit() else x for x in re.findall(r"\d+|\D+", r)]
    have, bases = [], sorted(glob.glob(os.path.join(KERNELS, "*"))) + ["/"]
    if wanted == DEBUG:
        wanted, bases = "", [kernel_debug()]
    for base in bases:
        modules = os.path.join(base, "lib/modules")
        for r in os.listdir(modules) if os.path.isdir(modules) else ():
            image = os.path.join(base, "boot/vmlinuz-" + r)
            if os.access(image, os.R_OK):
                have.append((r, image, os.path.join(modules, r)))
    fits = [k for k in have if not wanted or k[0] == wanted or re.match(re.escape(wanted) + r"[.+\-]", k[0])]
    if not wanted:    # the laboratory's default is the distribution's kernel, not one put next to it
        fits = [k for k in fits if k[2].startswith("/lib")] or fits
        fits = [k for k in fits if os.path.exists(os.path.join(k[2], "build"))] or fits    # as the Makefile
    if not fits:
        raise VmError(f"no kernel {wanted or ''} found; have: {', '.join(k[0] for k in have) or 'none'}; "
                      f"run scripts/setup{' --kernel ' + wanted if wanted else ''}")
    return max(fits, key=lambda k: key(k[0]))


def kernel_extract(image, target):
    """Unpack the ELF kernel from a bzImage: QEMU starts it directly, 2 s sooner."""
    data = read(image)
    sectors = data[0x1f1] or 4
    offset, length = struct.unpack_from("<II", data, 0x248)
    payload = data[(sectors + 1) * 512 + offset:][:length]
    if payload[:6] == b"\xfd7zXZ\0":
        elf = lzma.LZMADecompressor().decompress(payload)
    elif payload[:4] == b"\x28\xb5\x2f\xfd":
        elf = subprocess.run(["zstd", "-dcq"], input=payload[:-4], stdout=subprocess.PIPE, check=True).stdout
    else:
        elf = b""
    if elf[:4] != b"\x7fELF" or PVH_NOTE not in elf:
        elf = data    # an image we cannot open, or no way in: QEMU loads the bzImage itself
    part = f"{target}.{os.getpid()}"
    with open(part, "wb") as f:
        f.write(elf)
    os.rename(part, target)


def module_order(folder):
    """Return the module files that the first stage needs, dependencies first."""
    deps, order = {}, []
    with open(os.path.join(folder, "modules.dep")) as f:
        for line in f:
            name, _, needs = line.partition(":")
            deps[name] = needs.split()
    by_name = {os.path.basename(n).split(".ko")[0].replace("-", "_"): n for n in deps}
    for name in GUEST_MODULES:
        if name in by_name:    # otherwise built in
            for m in list(reversed(deps[by_name[name]])) + [by_name[name]]:
                if m not in order:
                    order.append(m)
    return order


def cpio(entries):
    """Return a newc archive of {path: (mode, bytes)}; no owner, no time: the same bytes every time."""
    out = bytearray()
    for ino, (name, (mode, data)) in enumerate(list(entries.items()) + [("TRAILER!!!", (0, b""))], 1):
        rdev = (5, 1) if stat.S_ISCHR(mode) else (0, 0)
        fields = (ino, mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(name) + 1, 0)
        out += b"070701" + b"".join(b"%08X" % v for v in fields) + name.encode() + b"\0"
        out += bytes(-len(out) % 4) + data
        out += bytes(-len(out) % 4)
    return bytes(out)


def bare_files(program, others):
    """Return entries for cpio(): a program with the libraries that it needs, and other files, in their places."""
    ldd = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    entries = {}
    for path in [program, *re.findall(r"(/\S+) \(0x", ldd.stdout), *others]:
        parts = path.strip("/").split("/")
        for i in range(1, len(parts)):
            entries.setdefault("/".join(parts[:i]), (stat.S_IFDIR | 0o755, b""))
        entries["/".join(parts)] = (stat.S_IFREG | 0o755, read(path))
    return entries


def read(path):
    with open(path, "rb") as f:
        return f.read()


def initrd_make(initrd, folder, order, programs):
    """Pack busybox, the init and the kernel's modules, in the order in which they are to be loaded."""
    d, x = stat.S_IFDIR | 0o755, stat.S_IFREG | 0o755
    files = {n: (d, b"") for n in ("bin", "dev", "proc", "sys", "modules", "job")}
    files["dev/console"] = (stat.S_IFCHR | 0o600, b"")
    files["bin/busybox"], files["init"] = (x, read(programs[0])), (x, read(programs[1]))
    names = []
    for m in order:
        data, base = read(os.path.join(folder, m)), os.path.basename(m)
        if base.endswith(".xz"):
            data, base = lzma.decompress(data), base[:-3]
        files["modules/" + base] = (x, data)
        names.append(base + "\n")
    files["modules/order"] = (x, "".join(names).encode())
    part = f"{initrd}.{os.getpid()}"
    with open(part, "wb") as f:
        f.write(cpio(files))
    os.rename(part, initrd)


def boot_files(wanted, top, cache):
    """Return (release, module folder, vmlinux, base initrd), built when what they are made of changed."""
    release, image, folder = kernel_find(wanted)
    order = module_order(folder)
    parts = ["/bin/busybox", os.path.join(top, "vm/init")] + [os.path.join(folder, m) for m in order]
    key = hashlib.sha256()
    for p in [image, __file__] + parts:
        s = os.stat(p)
        key.update(f"{p} {s.st_size} {s.st_mtime_ns}\n".encode())
    stem = os.path.join(cache, f"{release}-{key.hexdigest()[:12]}")
    vmlinux, initrd = stem + ".vmlinux", stem + ".initrd"
    # several guests may come here at once
    with open(os.path.join(cache, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (os.path.exists(vmlinux) and os.path.exists(initrd)):
            for old in os.listdir(cache):
                if old.startswith(release + "-"):
                    os.unlink(os.path.join(cache, old))
            kernel_extract(image, vmlinux)
            initrd_make(initrd, folder, order, parts[:2])
    return release, folder, vmlinux, initrd
