/// One thing that is wrong in a configuration file: where, what, and what to write instead.
package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file as the user named it.
  package let file: String
  /// The 1-based line; 0 when the file itself is the problem.
  package let line: Int
  /// The 1-based column, in characters; 0 when the file itself is the problem.
  package let column: Int
  /// The way to the value, as `stores[0].schema`; empty for the whole file.
  package let path: String
  /// What is wrong.
  package let message: String
  /// What to do about it.
  package let fix: String

  /// Puts a problem together.
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

  /// A problem with the text of a file.
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

/// Everything that is wrong with a configuration, in the order of its files and lines.
package struct Problems: Error, Sendable, Hashable, CustomStringConvertible {
  /// The problems; at least one.
  package let list: [Problem]

  /// Takes what was found, in the order in which it shall be shown.
  package init(_ list: [Problem]) {
    self.list = list
  }

  /// One line a problem.
  package var description: String { list.map(\.description).joined(separator: "\n") }
}
