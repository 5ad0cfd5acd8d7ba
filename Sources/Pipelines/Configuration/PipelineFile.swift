import JSON
import MobileSync
import SmartStore
import System

/// Reads a pipeline file with the files that it names, and reports all of their faults at once.
package enum PipelineFile {
  /// The content of a file, as far as it is valid.
  package struct Reading: Sendable {
    /// The pipeline; nil if too much of it is missing.
    package let pipeline: Pipeline?
    /// The faults, file by file.
    package let problems: [Problem]
    /// Remarks for an operator who checks the file.
    package var notes: [String] = []
    /// The secrets and the files of authorities that are not there.
    package var missing: [Problem] = []

    /// Returns the pipeline.
    ///
    /// Throws if the file has any fault.
    package func checked() throws(Problems) -> Pipeline {
      guard problems.isEmpty, let pipeline else { throw Problems(problems) }
      return pipeline
    }
  }

  /// The maximum size in bytes of a pipeline file, and of a store or sync file.
  package static let limitBytes = 16 << 20

  /// Returns why a file with such a mode is not trusted, and the fix; nil if it is not
  /// world-writable.
  ///
  /// Anyone who can write the file decides what is sent, and as whom. Group write access is
  /// allowed: on most systems, the group is the owner's own.
  static func fault(ofModeOf path: String) -> (message: String, fix: String)? {
    // For a link, the mode of its target counts.
    guard let status = try? Files.status(Files.resolved(path)), status.mode & 0o002 != 0 else {
      return nil
    }
    return ("\(path) is world-writable", "chmod o-w \(ShellWord.quoted(path))")
  }

  /// Reads a pipeline that is to be run.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - variables: The environment. If given, every variable that the file names must be set.
  package static func read(
    path: String, variables: [String: String]? = nil
  ) throws(Problems) -> Pipeline {
    try reading(path: path, variables: variables).checked()
  }

  /// Reads a pipeline as far as it is valid.
  ///
  /// If `thoroughly`, also reads secrets, and compares names.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - variables: The environment. If given, every variable that the file names must be set.
  ///   - thoroughly: The environment with secrets. What is not there is a `missing` problem.
  package static func reading(
    path: String, variables: [String: String]? = nil, thoroughly: [String: String]? = nil
  ) -> Reading {
    let reader = ConfigurationReader(file: path)
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try Files.read(path, limit: limitBytes)
    } catch {
      if error.isMissing {
        reader.report("there is no such pipeline file", fix(forMissing: path))
      } else {
        reader.report(
          "the pipeline file cannot be read: \(error.reason)",
          "name a file, or a pipeline in pipelines/")
      }
      return Reading(pipeline: nil, problems: reader.sorted)
    }
    if isOtherKind(bytes) {
      reader.report(
        "this is not a pipeline file (JSON)",
        "name a pipeline file; attache init writes one")
      return Reading(pipeline: nil, problems: reader.sorted)
    }
    let directory = path.contains("/") ? Files.parent(of: path) ?? "" : ""
    var parser = PipelineReader(reader: reader, directory: directory)
    parser.checkWritable(path)
    let root = reader.parse(bytes)
    let pipeline = root.flatMap { parser.pipeline($0) }
    if let thoroughly, let root, let pipeline {
      parser.checkSecrets(pipeline, thoroughly)
      parser.checkFiles(pipeline, root)
      parser.compareNames(pipeline)
      parser.compareDates(pipeline)
    }
    if let variables { parser.checkVariables(variables) }
    return Reading(
      pipeline: pipeline, problems: reader.sorted + parser.otherProblems,
      notes: parser.notes, missing: parser.missing)
  }

  /// Returns the fix for a file that does not exist: the file with the nearest name in its
  /// directory, or the names in `places`.
  private static func fix(forMissing path: String) -> String {
    let directory = Files.parent(of: path) ?? "."
    if let nearest = Spelling.nearest(stem(of: path), among: names(in: directory)) {
      return "did you mean \(directory)/\(nearest).json?"
    }
    let known = places.flatMap(names(in:))
    return known.isEmpty
      ? "name a file, or a pipeline in pipelines/ or \(installed.pipelines)"
      : "name a file, or one of these pipelines: \(known.sorted().joined(separator: ", "))"
  }

  /// The directories in which a name is looked up: relative to the working directory first, then
  /// that of an installed attache.
  package static let places = ["pipelines", installed.pipelines]

  /// The directories of the pipelines and data of an installed attache.
  package static let installed = (pipelines: "/etc/attache", data: "/var/lib/attache")

  /// Returns the name of a file without `.json`.
  static func stem(of path: String) -> String {
    let name = Files.name(of: path)
    return name.hasSuffix(".json") ? String(name.dropLast(5)) : name
  }

  package static func names(in directory: String) -> [String] {
    ((try? Files.list(directory)) ?? []).filter { $0.hasSuffix(".json") }
      .map(stem(of:)).sorted()
  }

  /// Returns the word that names a file in a command: its short name if `places` finds the file by
  /// it, otherwise its absolute path, which works in any directory.
  static func called(_ file: String) -> String {
    let path = Files.resolvedIfThere(file)
    let name = Files.name(of: file)
    if name.hasSuffix(".json") {
      let stem = String(name.dropLast(5))
      if let found = try? locate(stem), (try? Files.resolved(found)) == path {
        return ShellWord.quoted(stem)
      }
    }
    return ShellWord.quoted(file.hasPrefix("/") ? file : path)
  }

  /// Finds the file that a command line names: a path, or a name looked up in `places`.
  ///
  /// A word with a slash or the ending ".json" is a path; any other word is a name, and never
  /// finds a file of the working directory.
  package static func locate(
    _ argument: String, in directories: [String] = places
  ) throws(Problems) -> String {
    if argument.contains("/") || argument.hasSuffix(".json") {
      return Files.exists(argument) || argument.hasSuffix(".json") ? argument : argument + ".json"
    }
    let paths = directories.map { "\($0)/\(argument).json" }
    if let path = paths.first(where: Files.exists) { return path }
    let places = directories.joined(separator: " or ")
    throw Problems([
      Problem(
        file: paths.first ?? argument, line: 0, column: 0, path: "",
        message: "there is no pipeline \(JSONText.quoted(argument)) in \(places)",
        fix: fix(forUnknown: argument, in: directories))
    ])
  }

  private static func fix(forUnknown argument: String, in directories: [String]) -> String {
    let here = [argument + ".json", argument].first { Files.exists($0) && !Files.isDirectory($0) }
    if let here {
      return "to name the file in this directory, write \(ShellWord.quoted("./" + here))"
    }
    let names = directories.flatMap(names(in:))
    if names.isEmpty { return "name the file by its path" }
    let nearest = Spelling.nearest(argument, among: names).map { "did you mean \($0)? " } ?? ""
    return nearest + "known pipelines: " + names.joined(separator: ", ")
  }

  /// Whether a text is not even an attempt at JSON: a table, a database, an archive.
  private static func isOtherKind(_ bytes: [UInt8]) -> Bool {
    let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
    guard let first = bytes.first(where: { !blanks.contains($0) }) else { return false }
    return (0x41...0x5A).contains(first & ~0x20)
  }
}
