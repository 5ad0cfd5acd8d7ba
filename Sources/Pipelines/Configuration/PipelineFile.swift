import JSON
import MobileSync
import SmartStore
import System

/// Reads a pipeline file with the files that it names, and says all that is wrong with any of them.
package enum PipelineFile {
  /// What a file holds, as far as it can be understood.
  package struct Reading: Sendable {
    /// The pipeline; nil when too much of it is missing.
    package let pipeline: Pipeline?
    /// What is wrong, file by file.
    package let problems: [Problem]
    /// What is right but cannot be done yet.
    package let notYet: [Problem]
    /// What somebody who checks the file should know, and is no problem.
    package var notes: [String] = []
    /// The files of the login and of authorities that are not there.
    package var missing: [Problem] = []

    /// The pipeline, if nothing is wrong with it.
    package func checked() throws(Problems) -> Pipeline {
      let all = problems + notYet
      guard all.isEmpty, let pipeline else { throw Problems(all) }
      return pipeline
    }
  }

  /// A file larger than this is none of ours.
  static let limitBytes = 16 << 20

  /// Why a file of such a mode is not obeyed, with what to do; nil where not everybody may write it.
  ///
  /// Who may write it decides what is sent, and as whom. A group may: it is its owner's own on most systems.
  static func fault(ofModeOf path: String) -> (message: String, fix: String)? {
    // Of a link the file counts.
    guard let status = try? Files.status(Files.resolved(path)), status.mode & 0o002 != 0 else {
      return nil
    }
    return ("everybody may write \(path)", "chmod o-w \(ShellWord.quoted(path))")
  }

  /// Reads a pipeline that is to be run.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - variables: The environment; when given, a variable that the file names must be set.
  package static func read(
    path: String, variables: [String: String]? = nil
  ) throws(Problems) -> Pipeline {
    try reading(path: path, variables: variables).checked()
  }

  /// Reads a pipeline as far as it can be understood; `thoroughly` also reads the login's files, and compares names.
  package static func reading(
    path: String, variables: [String: String]? = nil, thoroughly: Bool = false
  ) -> Reading {
    let reader = ConfigurationReader(file: path)
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try Files.read(path, limit: limitBytes)
    } catch {
      reader.report(
        "the pipeline file cannot be read: \(error.reason)",
        "name a file, or a pipeline in pipelines/")
      return Reading(pipeline: nil, problems: reader.sorted, notYet: [])
    }
    let directory = path.contains("/") ? Files.parent(of: path) ?? "" : ""
    var parser = PipelineReader(reader: reader, directory: directory)
    parser.checkWritable(path)
    let root = reader.parse(bytes)
    let pipeline = root.flatMap { parser.pipeline($0) }
    if thoroughly, let root, let pipeline {
      parser.checkFiles(pipeline, root)
      parser.compareNames(pipeline)
      parser.compareDates(pipeline)
    }
    if let variables { parser.checkVariables(variables) }
    return Reading(
      pipeline: pipeline, problems: reader.sorted + parser.otherProblems,
      notYet: parser.notYet.sorted { ($0.line, $0.column) < ($1.line, $1.column) },
      notes: parser.notes, missing: parser.missing)
  }

  /// Where names are looked up: beside the caller, then where an installed attache has its pipelines.
  package static let places = ["pipelines", installed.pipelines]

  /// Where an installed attache has its pipelines, and where their data are kept.
  package static let installed = (pipelines: "/etc/attache", data: "/var/lib/attache")

  /// The names of the pipelines that a directory holds.
  package static func names(in directory: String) -> [String] {
    ((try? Files.list(directory)) ?? []).filter { $0.hasSuffix(".json") }
      .map { String($0.dropLast(5)) }.sorted()
  }

  /// The word that names a file in a command to copy: its short name where that finds it in `places`,
  /// else its whole path, which is right in any directory.
  static func called(_ file: String) -> String {
    let path = Files.resolvedIfThere(file)
    let name = Files.name(of: file)
    if name.hasSuffix(".json") {
      let stem = String(name.dropLast(5))
      // One beside the caller is found there alone, and goes before those of `places`.
      if let found = try? locate(stem), found.contains("/"), (try? Files.resolved(found)) == path {
        return ShellWord.quoted(stem)
      }
    }
    return ShellWord.quoted(file.hasPrefix("/") ? file : path)
  }

  /// Finds the file that a command line names: a path, or a name looked up in `places`.
  package static func locate(
    _ argument: String, in directories: [String] = places
  ) throws(Problems) -> String {
    if argument.contains("/") || argument.hasSuffix(".json") || Files.exists(argument + ".json") {
      return Files.exists(argument) || argument.hasSuffix(".json") ? argument : argument + ".json"
    }
    let paths = directories.map { "\($0)/\(argument).json" }
    if let path = paths.first(where: Files.exists) { return path }
    let names = directories.flatMap(names(in:))
    let fix =
      names.isEmpty
      ? "name the file by its path" : ConfigurationReader.oneOf(names, near: argument)
    throw Problems([
      Problem(
        file: paths.first ?? argument, line: 0, column: 0, path: "",
        message: "there is no pipeline \(JSONText.quoted(argument))", fix: fix)
    ])
  }
}
