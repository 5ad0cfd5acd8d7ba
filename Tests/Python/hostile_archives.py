"""Writes one hostile archive per case to a directory: `<case>.zip` or `<case>.tar.gz`."""
import io, os, sys, tarfile, zipfile, gzip, warnings
warnings.simplefilter("ignore")
out = sys.argv[1]
def z(case, entries, **kw):
    with zipfile.ZipFile(os.path.join(out, case + ".zip"), "w", zipfile.ZIP_DEFLATED) as f:
        for name, data in entries:
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            if not isinstance(name, zipfile.ZipInfo):
                info.filename = name
                info.external_attr = 0o100600 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            f.writestr(info, data)
def t(case, members):
    with tarfile.open(os.path.join(out, case + ".tar.gz"), "w:gz") as f:
        for name, kind, data in members:
            m = tarfile.TarInfo(name)
            m.type = kind
            if kind in (tarfile.LNKTYPE, tarfile.SYMTYPE): m.linkname = "/etc/passwd"
            else: m.size = len(data)
            f.addfile(m, io.BytesIO(data))
names = {
  "parent": "../evil", "deep-parent": "a/../../evil", "absolute": "/etc/evil",
  "backslash": "a\\..\\evil", "drive": "C:/evil", "empty-part": "a//b",
  "inner-dot": "a/./b", "control": "a\x01b", "newline": "a\nb", "long": "a" * 600,
  "dots": "..", "unc": "\\\\host\\share", "trailing-parent": "a/..",
}
for case, name in names.items():
    z("name-" + case, [(name, b"x")])
    t("name-" + case, [(name, tarfile.REGTYPE, b"x")])
kinds = {"hardlink": tarfile.LNKTYPE, "symlink": tarfile.SYMTYPE, "character": tarfile.CHRTYPE,
         "block": tarfile.BLKTYPE, "pipe": tarfile.FIFOTYPE}
for case, kind in kinds.items(): t("kind-" + case, [("manifest.json", kind, b"")])
link = zipfile.ZipInfo("manifest.json"); link.create_system = 3
link.external_attr = 0o120777 << 16
z("kind-symlink", [(link, b"/etc/passwd")])
pairs = {"same": ("a", "a"), "case": ("Store.db", "store.DB"),
         "canonical": ("caf\u00e9", "cafe\u0301"), "dot": ("a", "./a")}
for case, (one, two) in pairs.items():
    z("twice-" + case, [(one, b"1"), (two, b"2")])
    t("twice-" + case, [(one, tarfile.REGTYPE, b"1"), (two, tarfile.REGTYPE, b"2")])
z("many", [("f%d" % i, b"") for i in range(65)])
t("many", [("f%d" % i, tarfile.REGTYPE, b"") for i in range(65)])
t("many-directories", [("d%d" % i, tarfile.DIRTYPE, b"") for i in range(65)])
z("bomb", [("a", b"\0" * (64 << 20))])
t("bomb", [("a", tarfile.REGTYPE, b"\0" * (64 << 20))])
z("bomb-in-pieces", [("a%d" % i, b"\0" * (2 << 20)) for i in range(60)])
with zipfile.ZipFile(os.path.join(out, "lying-size.zip"), "w") as f:
    info = zipfile.ZipInfo("a"); info.external_attr = 0o100600 << 16
    f.writestr(info, b"x" * 1000)
data = bytearray(open(os.path.join(out, "lying-size.zip"), "rb").read())
for at in (18, 22): data[at:at+4] = (4000000000).to_bytes(4, "little")
c = data.rindex(b"PK\x01\x02")
for at in (c + 20, c + 24): data[at:at+4] = (4000000000).to_bytes(4, "little")
open(os.path.join(out, "lying-size.zip"), "wb").write(data)
data = bytearray(open(os.path.join(out, "bomb.zip"), "rb").read())
c = data.rindex(b"PK\x01\x02")
for at in (22, c + 24): data[at:at+4] = (10).to_bytes(4, "little")
open(os.path.join(out, "bomb-that-lies.zip"), "wb").write(data)
z("plain", [("a", b"x")])
plain = open(os.path.join(out, "plain.zip"), "rb").read()
os.remove(os.path.join(out, "plain.zip"))
open(os.path.join(out, "prepended.zip"), "wb").write(b"#!/bin/sh\n" + plain)
e = bytearray(plain)
e[6] |= 1; c = e.rindex(b"PK\x01\x02"); e[c + 8] |= 1
open(os.path.join(out, "encrypted.zip"), "wb").write(e)
open(os.path.join(out, "empty.zip"), "wb").write(b"")
open(os.path.join(out, "text.zip"), "wb").write(b"PK\x03\x04 not really")
open(os.path.join(out, "nested.tar.gz"), "wb").write(gzip.compress(gzip.compress(b"x" * 2000)))
open(os.path.join(out, "noise.tar.gz"), "wb").write(gzip.compress(bytes(range(256)) * 40))
open(os.path.join(out, "cpio.tar.gz"), "wb").write(gzip.compress(b"070707" + b"0" * 600))
