import CArchive

/// The locale in which libarchive reads and writes names: UTF-8, regardless of the process's
/// locale.
enum NameLocale {
  private struct Made: @unchecked Sendable {
    // A locale never changes after its creation.
    let locale: locale_t?
  }

  private static let utf8 = Made(locale: attache_utf8_locale())

  /// Runs code that reads or writes a header, then restores the thread's locale.
  static func perform<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let before = attache_use_locale(utf8.locale)
    defer { _ = attache_use_locale(before) }
    return try body()
  }
}
