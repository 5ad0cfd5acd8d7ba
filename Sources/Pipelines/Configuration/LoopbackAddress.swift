/// Addresses of this machine itself: what goes there no network sees, so that it needs no https.
enum LoopbackAddress {
  private static let origins = ["http://127.0.0.1", "http://localhost", "http://[::1]"]

  /// Says whether an address is one, over plain http.
  static func contains(_ url: String) -> Bool {
    origins.contains { url == $0 || url.hasPrefix($0 + ":") || url.hasPrefix($0 + "/") }
  }
}
