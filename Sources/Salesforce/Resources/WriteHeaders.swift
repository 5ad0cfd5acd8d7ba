import System

/// The header fields that a write of rows has beside those of every request.
enum WriteHeaders {
  /// Those of one row, of a collection, or of a part of a composite; its record must not have been
  /// modified after a moment where one is given, to the second.
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
