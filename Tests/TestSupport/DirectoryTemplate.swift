import System

/// Directories that are filled once per process and copied into each test.
package enum DirectoryTemplate {
  private static let made = Locked<[String: TemporaryDirectory]>([:])

  /// Copies to a new directory the files that `fill` puts into the template of this key.
  package static func copy(
    _ key: String, to directory: String, _ fill: (String) throws -> Void
  ) throws {
    let template = try made.withLock { made throws -> TemporaryDirectory in
      if let known = made[key] { return known }
      let new = TemporaryDirectory.untilExit("template")
      try fill(new.path)
      made[key] = new
      return new
    }
    try Files.makeDirectory(directory)
    for name in try Files.list(template.path) {
      try Files.copy(template.path + "/" + name, to: directory + "/" + name)
    }
  }
}
