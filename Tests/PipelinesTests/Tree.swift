import Foundation
import System

enum Tree {
  struct Entry: Hashable {
    let bytes: [UInt8]
    let modified: Int64
  }

  static func copy(_ source: String, to destination: String) throws {
    try Files.remove(destination)
    try FileManager.default.copyItem(atPath: source, toPath: destination)
    // Foundation rounds the times, but returns are taken in their order.
    for name in try files(source) {
      try Files.setModificationTime(
        of: destination + "/" + name,
        nanoseconds: try Files.modificationTime(of: source + "/" + name))
    }
  }

  static func files(_ directory: String) throws -> [String] {
    guard Files.isDirectory(directory) else { return [] }
    var found: [String] = []
    for name in try Files.list(directory) {
      let path = directory + "/" + name
      if Files.isDirectory(path) {
        found += try files(path).map { name + "/" + $0 }
      } else {
        found.append(name)
      }
    }
    return found
  }

  static func entries(_ directory: String) throws -> [String: Entry] {
    var entries: [String: Entry] = [:]
    for name in try files(directory) {
      let path = directory + "/" + name
      entries[name] = Entry(
        bytes: try Files.read(path), modified: try Files.modificationTime(of: path))
    }
    return entries
  }

  static func contains(_ text: String, in path: String) throws -> Bool {
    try Data(Files.read(path)).range(of: Data(text.utf8)) != nil
  }
}
