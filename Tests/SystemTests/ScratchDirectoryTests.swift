import System
import TestSupport
import Testing

@Suite struct ScratchDirectoryTests {
  @Test func `a new one removes those of ended processes, and nothing else`() throws {
    let directory = TemporaryDirectory()
    let variables = ["TMPDIR": directory.path]
    let living = try ScratchDirectory(variables)
    defer { living.remove() }
    // The lock ends with its process, or here with its object.
    let abandoned = try ScratchDirectory(variables).path
    try DurableFile.write([1], to: abandoned + "/store.sqlite")
    // The names are temporary, but the directories are not marked.
    let others = [".tmp-1-work", "tmp-1"].map { directory.file($0) }
    for other in others { try Files.makeDirectory(other) }
    // A link to another directory is not followed.
    let elsewhere = TemporaryDirectory()
    let target = try ScratchDirectory(["TMPDIR": elsewhere.path]).path
    try DurableFile.link(directory.file(".tmp-2-link"), to: target)
    let next = try ScratchDirectory(variables)
    #expect(!Files.exists(abandoned))
    for path in others + [living.path, next.path, target] { #expect(Files.isDirectory(path)) }
    next.remove()
    #expect(!Files.exists(next.path))
  }
}
