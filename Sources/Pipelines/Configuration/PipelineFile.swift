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
  }

  /// A file larger than this is none of ours.
  static let limitBytes = 16 << 20

  /// Reads a pipeline that is to be run.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - variables: The environment; when given, a variable that the file names must be set.
  package static func read(
    path: String, variables: [String: String]? = nil
  ) throws(Problems) -> Pipeline {
    let reading = reading(path: path, variables: variables)
    let problems = reading.problems + reading.notYet
    guard problems.isEmpty, let pipeline = reading.pipeline else { throw Problems(problems) }
    return pipeline
  }

  /// Reads a pipeline as far as it can be understood.
  package static func reading(path: String, variables: [String: String]? = nil) -> Reading {
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
    let pipeline = reader.parse(bytes).flatMap { parser.pipeline($0) }
    if let variables { parser.checkVariables(variables) }
    return Reading(
      pipeline: pipeline, problems: reader.sorted + parser.otherProblems,
      notYet: parser.notYet.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
  }

  /// Finds the file that a command line names: a path, or a name looked up in `pipelines/`.
  package static func locate(
    _ argument: String, in directory: String = "pipelines"
  ) throws(Problems) -> String {
    if argument.contains("/") || argument.hasSuffix(".json") || Files.exists(argument + ".json") {
      return Files.exists(argument) || argument.hasSuffix(".json") ? argument : argument + ".json"
    }
    let path = "\(directory)/\(argument).json"
    if Files.exists(path) { return path }
    let names = ((try? Files.list(directory)) ?? []).filter { $0.hasSuffix(".json") }
      .map { String($0.dropLast(5)) }
    let fix =
      names.isEmpty
      ? "name the file by its path" : ConfigurationReader.oneOf(names, near: argument)
    throw Problems([
      Problem(
        file: path, line: 0, column: 0, path: "",
        message: "there is no pipeline \(JSONText.quoted(argument))", fix: fix)
    ])
  }
}
