"""Puts odd files of every kind with names of every shape into an inbox, and prints the names as a
JSON array. The last arguments are valid stores to put odd companions next to."""
import io, json, os, random, socket, stat, sys, tarfile, zipfile, gzip
inbox, bundle, seed, stores = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
draw = random.Random(seed)
os.chdir(inbox)
names, used = [], set()
shapes = [lambda i: b"odd%d.db" % i, lambda i: b"odd %d" % i, lambda i: b"odd\n%d.sqlite" % i,
  lambda i: b"\x1b[31modd%d" % i, lambda i: ("\u202eodd%d.zip" % i).encode(),
  lambda i: b"\xff\xfeodd%d.db" % i, lambda i: b"-rf odd%d" % i, lambda i: b"a'b\"%d;--.db" % i,
  lambda i: (b"%03d" % i).ljust(249, b"n"), lambda i: (b"%03d" % i).ljust(251, b"n"),
  lambda i: (b"%03d" % i).ljust(255, b"n"),
  lambda i: ("\u00e4\U0001f4f1%d.tar.gz" % i).encode(), lambda i: b"odd%d.db.db" % i,
  lambda i: ("%03d" % i).encode() + "\u00e9".encode() * 126]
def name(plain=False):
    i = len(names) + 1
    made = shapes[0](i) if plain else draw.choice(shapes)(i)
    names.append(made)
    return made
def put(content, mode=0o600, plain=False):
    made = name(plain)
    with open(made, "wb") as f: f.write(content)
    os.chmod(made, mode)
    return made
def sock(path):
    # The address of a socket is short: it is bound elsewhere and moved here.
    s = socket.socket(socket.AF_UNIX); s.bind("s"); s.close(); os.rename("s", path)
whole = open(bundle, "rb").read()
def zipped(entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as f:
        for n, d in entries: f.writestr(n, d)
    return out.getvalue()
def tarred(entries, mode="w:gz"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as f:
        for n, d in entries:
            m = tarfile.TarInfo(n); m.size = len(d); f.addfile(m, io.BytesIO(d))
    return out.getvalue()
def sparse():
    made = name()
    with open(made, "wb") as f: f.truncate(1 << 43)
def device(kind, number):
    if os.geteuid() == 0: os.mknod(name(), kind | 0o600, os.makedev(1, number))
def tree():
    made = name(); os.makedirs(os.path.join(made, b"a", b"b"))
    with open(os.path.join(made, b"a", b"store.sqlite"), "wb") as f: f.write(b"x")
def loop():
    one, two = name(), name(); os.symlink(one, two); os.symlink(two, one)
def sibling(store, suffix, make):
    made = put(open(store, "rb").read(), plain=True)
    make(made + suffix)
deep = "/".join(["d"] * 200) + "/store.sqlite"
makers = [
  lambda: os.mkfifo(name()), lambda: sock(name()), lambda: device(stat.S_IFCHR, 3),
  lambda: device(stat.S_IFCHR, 8), lambda: device(stat.S_IFBLK, 0),
  lambda: os.symlink("/no/such/file", name()), lambda: os.symlink("/etc/passwd", name()),
  lambda: os.symlink(".", name()), loop, lambda: os.mkdir(name()), tree, sparse,
  lambda: put(b""), lambda: put(b"x"), lambda: put(b"SQLite format 3\0"),
  lambda: put(b"\0" * 5000), lambda: put(os.urandom(9000)), lambda: put(b"text", 0o000),
  lambda: put(b"more text", 0o4755), lambda: put(whole[:len(whole) // 2]),
  lambda: put(whole[:40]), lambda: put(whole[:len(whole) - 9]), lambda: put(whole + b"tail"),
  lambda: put(whole[:4]), lambda: put(zipped([("a.zip", zipped([("manifest.json", b"{}")]))])),
  lambda: put(gzip.compress(tarred([("manifest.json", b"{}")]))),
  lambda: put(gzip.compress(whole)), lambda: put(tarred([("inner.tar.zst", whole)])),
  lambda: put(zipped([(deep, b"x")])), lambda: put(tarred([(deep, b"x")])),
  lambda: put(zipped([("manifest.json", b"{" * 100000)])),
  lambda: put(zipped([("manifest.json", b'{"format":1,"stores":[]}')])),
  lambda: put(zipped([])), lambda: put(tarred([])), lambda: put(b"PK\x03\x04"),
  lambda: put(b"\x1f\x8b\x08"), lambda: put(b"\x28\xb5\x2f\xfd" * 1000),
]
companions = [lambda p: os.mkdir(p), lambda p: os.symlink("/no/such", p), lambda p: os.mkfifo(p),
  lambda p: os.symlink("/etc/passwd", p), sock]
left = list(stores)
for suffix in (b"-journal", b"-wal"):
    for make in companions:
        if left: makers.append(lambda s=left.pop(), x=suffix, m=make: sibling(s, x, m))
draw.shuffle(makers)
for make in makers: make()
print(json.dumps([n.decode("utf-8", "replace") for n in names]))
