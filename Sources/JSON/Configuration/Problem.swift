import System

/// A problem in a configuration file: its position, the fault and the fix.
package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file as the user named it.
  package let file: String
  /// The line, counted from 1; 0 if the problem is the file itself.
  package let line: Int
  /// The column, counted in characters from 1; 0 if the problem is the file itself.
  package let column: Int
  /// The path of the value, such as `stores[0].schema`; empty for the whole file.
  package let path: String
  /// The fault.
  package let message: String
  /// The fix.
  package let fix: String

  package init(
    file: String, line: Int, column: Int, path: String, message: String, fix: String
  ) {
    self.file = file
    self.line = line
    self.column = column
    self.path = path
    self.message = message
    self.fix = fix
  }

  /// Creates a problem from an error in the text of a file.
  package init(file: String, _ error: JSONError) {
    self.init(
      file: file, line: error.line, column: error.column, path: "", message: error.message,
      fix: error.fix)
  }

  /// One line: `file:line:column: path: message; fix`.
  package var description: String {
    var text = line > 0 ? "\(file):\(line):\(column): " : "\(file): "
    if !path.isEmpty { text += path + ": " }
    text += message
    return fix.isEmpty ? text : "\(text); \(fix)"
  }
}

/// All problems of a configuration, in the order of its files and lines.
package struct Problems: Error, Sendable, Hashable, CustomStringConvertible {
  /// The problems; at least one.
  package let list: [Problem]

  /// Creates a list that keeps the given order.
  package init(_ list: [Problem]) {
    self.list = list
  }

  /// The problem, if there is only one and it is the file itself rather than something in it.
  package var ofFile: Problem? {
    guard list.count == 1, let problem = list.first, problem.line == 0 else { return nil }
    return problem
  }

  /// The problems in one sentence.
  package var summary: String {
    if let problem = ofFile { return problem.message }
    let files = Set(list.map(\.file))
    let subject = files.count == 1 ? files.first ?? "" : "the configuration"
    return "\(subject) has \(CountText.of(list.count, "problem"))"
  }

  /// One line per problem.
  package var description: String { list.map(\.description).joined(separator: "\n") }
}
