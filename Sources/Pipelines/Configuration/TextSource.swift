import JSON

/// Text that is written in the file, or read from the source of a secret.
package enum TextSource: Sendable, Hashable {
  case plain(String)
  case source(SecretSource)

  /// Returns the text.
  ///
  /// Parameters and errors are those of a secret.
  package func resolve(
    _ variables: [String: String], commandSeconds: Int = SecretSource.commandSeconds,
    isCancelled: (() -> Bool)? = nil
  ) throws(SecretError) -> String {
    switch self {
    case .plain(let text): return text
    case .source(let source):
      let secret = try source.resolve(
        variables, commandSeconds: commandSeconds, isCancelled: isCancelled)
      guard let text = secret.text else {
        throw SecretError(source, "this is not UTF-8", "write UTF-8 text there")
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
