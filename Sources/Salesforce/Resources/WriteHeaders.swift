import System

/// The header fields of a write, in addition to those of every request.
enum WriteHeaders {
  /// The header fields for one row, a collection, or a part of a composite request.
  ///
  /// If a moment is given, the record must not have been modified after it, to the second.
  static func fields(unmodifiedSince: Int64? = nil) -> [(name: String, value: String)] {
    unmodifiedSince.map { [("If-Unmodified-Since", Dates.http($0))] } ?? []
  }
}

extension OrgCall {
  /// The call with the header fields of a write.
  func asWrite(unmodifiedSince: Int64? = nil) -> OrgCall {
    var call = self
    for field in WriteHeaders.fields(unmodifiedSince: unmodifiedSince) {
      call.headers[field.name] = field.value
    }
    return call
  }
}
