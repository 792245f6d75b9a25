#!/usr/bin/env python3
"""merge_wheels.py FOLDER WHEEL...: one wheel in FOLDER with the files of all; of those with the same name the first one's.
Libraries forget the folders of the machine that built them (patchelf)."""
import base64
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile


def without_folders(library):
    with tempfile.NamedTemporaryFile() as file:
        file.write(library)
        file.flush()
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", file.name], check=True)
        return pathlib.Path(file.name).read_bytes()


def main(folder, *wheels):
    files, infos = {}, {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for info in archive.infolist():
                # Modules without MPI were built once for each: the first one serves all.
                if info.filename.endswith("/RECORD") or info.filename in files:
                    continue
                data = archive.read(info)
                is_library = ".so" in pathlib.Path(info.filename).name
                files[info.filename], infos[info.filename] = without_folders(data) if is_library else data, info
    record = next(name for name in files if name.endswith(".dist-info/METADATA")).replace("METADATA", "RECORD")
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / pathlib.Path(wheels[0]).name, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(infos[name], data, zipfile.ZIP_DEFLATED)
        archive.writestr(record, "".join(lines) + f"{record},,\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
