import JSON

/// A text that may stand in the file or come from where secrets do.
package enum TextSource: Sendable, Hashable {
  /// The text itself.
  case plain(String)
  /// Where it is.
  case source(SecretSource)

  /// The text.
  package func resolve(_ variables: [String: String]) throws(SecretError) -> String {
    switch self {
    case .plain(let text): return text
    case .source(let source):
      guard let text = try source.resolve(variables).text else {
        throw SecretError(source, "this is not UTF-8", "put a text there")
      }
      return text
    }
  }

  var json: JSONValue {
    switch self {
    case .plain(let text): .string(text)
    case .source(let source): source.json
    }
  }
}
