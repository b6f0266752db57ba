# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes PyPI's torch importable without its gigabytes of CUDA libraries.

The tests use torch on the CPU only, as the arithmetic behind `transformers`. The wheel on PyPI is linked against cuBLAS, cuDNN, NCCL and others (over 4 GB
installed); nothing of them is called, but the dynamic loader wants the files and their symbols. For each such library that torch needs and that is not
installed, this writes a stand-in into torch/lib whose functions return 0. The CUDA runtime itself (2 MB) is a normal requirement, so that torch finds out
in the usual way that there is no device.

usage: python cuda_stubs.py CLANG READELF     (the python of the environment that holds torch)

Refuses nothing: if every library is present it writes nothing.
"""
import collections
import importlib.util
import pathlib
import re
import subprocess
import sys

# CUDA's own libraries: cublas, cudnn, nvrtc, nvshmem_host, nccl, ...
CUDA = re.compile(r"^lib(cu|nv|nccl)")


def readelf(tool, *arguments):
    return subprocess.run([tool, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def needed_libraries(tool, library):
    return re.findall(r"\(NEEDED\).*\[(.+?)\]", readelf(tool, "-d", library))


def dynamic_symbols(tool, library):
    """Yields (name, version or None, defined) of each dynamic symbol."""
    for line in readelf(tool, "--dyn-syms", "-W", library).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].rstrip(":").isdigit():
            name, _, version = fields[7].partition("@")
            yield name, version.lstrip("@") or None, fields[6] != "UND"


def needed_versions(tool, library):
    """Yields (library name, version name) of the versions that `library` wants of others."""
    file = None
    for line in readelf(tool, "-V", library).splitlines():
        if match := re.search(r"\bFile: (\S+)", line):
            file = match.group(1)
        elif file and (match := re.search(r"\bName: (\S+)", line)):
            yield file, match.group(1)


def write_stub(clang, path, versions):
    """`versions` maps a version name (or None) to the functions to define."""
    assembly, script = [".text"], []
    for version, names in sorted(versions.items(), key=lambda item: item[0] or ""):
        for name in sorted(names):
            assembly += [f".globl {name}", f".type {name},@function", f"{name}: xorl %eax, %eax", "ret"]
        if version:
            script.append(f"{version} {{ global: {' '.join(f'{name};' for name in sorted(names))} }};")
    source, version_script = path.with_suffix(".s"), path.with_suffix(".map")
    source.write_text("\n".join(assembly) + "\n")
    version_script.write_text("\n".join(script) + "\n")
    command = [clang, "-shared", "-nostdlib", "-fuse-ld=lld", f"-Wl,-soname,{path.name}", "-o", str(path), str(source)]
    if script:
        command.append(f"-Wl,--version-script={version_script}")
    subprocess.run(command, check=True)
    source.unlink()
    version_script.unlink()


def main():
    clang, tool = sys.argv[1:3]
    torch = pathlib.Path(importlib.util.find_spec("torch").submodule_search_locations[0])
    libraries = sorted((torch / "lib").glob("*.so*"))
    present = {library.name for library in libraries}
    present |= {library.name for library in (torch.parent / "nvidia").glob("**/lib/*.so*")}

    missing, defined, undefined, versions_of = set(), set(), collections.defaultdict(set), collections.defaultdict(set)
    for library in libraries:
        missing |= {name for name in needed_libraries(tool, library) if name not in present and CUDA.match(name)}
        for file, version in needed_versions(tool, library):
            versions_of[file].add(version)
        for name, version, is_defined in dynamic_symbols(tool, library):
            if is_defined:
                defined.add(name)
            else:
                undefined[version].add(name)
    if not missing:
        return
    for library in (torch.parent / "nvidia").glob("**/lib/*.so*"):
        defined |= {name for name, _, is_defined in dynamic_symbols(tool, library) if is_defined}

    # A versioned symbol belongs to the library of that version; the rest go into the first stub, since the loader searches them by name alone. Python's own symbols (Py*, _Py*)
    # come from the interpreter.
    unversioned = {name for name in undefined[None] - defined if not re.match(r"_?Py|_ITM_|__gmon|__cxa_finalize|__tls_get_addr", name)}
    for position, soname in enumerate(sorted(missing)):
        versions = {None: unversioned} if position == 0 else {}
        versions.update((version, undefined[version]) for version in versions_of[soname])
        write_stub(clang, torch / "lib" / soname, versions)
    print(f"torch: stand-ins for {len(missing)} CUDA libraries that the tests never call")


if __name__ == "__main__":
    main()
