import Glibc
import System
import TestSupport
import Testing

@Suite struct MarkedDirectoryTests {
  let directory = TemporaryDirectory()
  private var place: String { directory.file("place") }

  private func marked(maker: String = "attache demo") -> MarkedDirectory {
    MarkedDirectory(place, maker: maker)
  }

  @Test func `a directory that attache created can be emptied repeatedly`() throws {
    for _ in 1...2 {
      try marked().empty()
      #expect(try Files.list(place) == [MarkedDirectory.markerName])
      try Files.makeDirectory(place + "/org/deep")
      try DurableFile.write([1], to: place + "/file")
    }
  }

  @Test func `a directory in use cannot be held a second time`() throws {
    let lock = try marked().hold()
    #expect(throws: LockError.self) { try marked().hold() }
    lock.close()
    try marked().hold().close()
    #expect(try Files.list(place) == [MarkedDirectory.markerName])
  }

  @Test(arguments: [nil, "A", "B"]) func `a mark is removed unless it names the subject`(
    _ named: String?
  ) throws {
    let lock = try marked().hold()
    defer { lock.close() }
    if let named { try marked().name(named) }
    try marked().empty()
    #expect(throws: LockError.self) { try marked().hold() }
    try MarkedDirectory.unmark(place, unlessFor: "A")
    #expect(try Files.list(place) == (named == "A" ? [MarkedDirectory.markerName] : []))
    try MarkedDirectory.unmark(place, unlessFor: "B")
    #expect(try Files.list(place) == [])
  }

  @Test func `an empty directory is accepted`() throws {
    try Files.makeDirectory(place)
    try marked().empty()
    #expect(try Files.list(place) == [MarkedDirectory.markerName])
  }

  @Test(arguments: ["missing/..", "missing/./../../place", "missing/../../place/missing/.."])
  func `a path through a missing directory is rejected for where it leads`(_ path: String) throws {
    try Files.makeDirectory(place)
    try DurableFile.write([1], to: place + "/file")
    let target = MarkedDirectory("\(place)/\(path)", maker: "attache demo")
    for act in [target.check, target.claim, target.empty] {
      #expect(throws: MarkedDirectory.Foreign.self) { try act() }
      #expect(try Files.list(place) == ["file"])
    }
    // A link leads to what `..` is of, once its directory exists.
    try Files.makeDirectory(directory.file("other/inner"))
    symlink(directory.file("other/inner"), directory.file("link"))
    try DurableFile.write([1], to: directory.file("other/file"))
    let linked = MarkedDirectory(directory.file("link/missing/../.."), maker: "attache demo")
    #expect(throws: MarkedDirectory.Foreign.self) { try linked.empty() }
    #expect(Files.exists(directory.file("other/file")))
  }

  @Test(arguments: [
    "file", ".hidden", "another marker", "the marker of another command", "a linked marker",
  ])
  func `a directory that attache did not create is rejected and unchanged`(_ kind: String) throws {
    try Files.makeDirectory(place)
    let marker = place + "/" + MarkedDirectory.markerName
    switch kind {
    case "another marker": try DurableFile.write(Array("mine\n".utf8), to: marker)
    case "the marker of another command":
      try marked(maker: "attache run --dry-run --report").claim()
    case "a linked marker":
      try MarkedDirectory(directory.file("real"), maker: "attache demo").claim()
      symlink(directory.file("real") + "/" + MarkedDirectory.markerName, marker)
    default: try DurableFile.write([1], to: place + "/" + kind)
    }
    let before = try Files.list(place)
    let error = #expect(throws: MarkedDirectory.Foreign.self) { try marked().empty() }
    #expect(error?.found == before.first)
    #expect(try Files.list(place) == before)
  }

  @Test func `a file or a link to a foreign directory is rejected`() throws {
    try DurableFile.write([1], to: place)
    #expect(throws: MarkedDirectory.Foreign.self) { try marked().empty() }
    try Files.remove(place)
    try Files.makeDirectory(directory.file("other"))
    try DurableFile.write([1], to: directory.file("other/keep"))
    symlink(directory.file("other"), place)
    #expect(throws: MarkedDirectory.Foreign.self) { try marked().empty() }
    #expect(try Files.read(directory.file("other/keep")) == [1] && Files.isSymbolicLink(place))
  }
}
