import CArchive

/// The locale in which libarchive reads and writes names: UTF-8, whatever the process has.
enum NameLocale {
  private struct Made: @unchecked Sendable {
    // A locale is never changed after it is made.
    let locale: locale_t?
  }

  private static let utf8 = Made(locale: attache_utf8_locale())

  /// Does what reads or writes a header; the thread has its own locale again afterwards.
  static func perform<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let before = attache_use_locale(utf8.locale)
    defer { _ = attache_use_locale(before) }
    return try body()
  }
}
