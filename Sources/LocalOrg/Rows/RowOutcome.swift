/// The outcome of one row of a write.
package enum RowOutcome: Sendable, Hashable {
  /// The row was written.
  case success(id: String, created: Bool)
  /// The row was refused; nothing of it was written.
  case failure([OrgError])

  /// The ID of a written row.
  package var id: String? {
    if case .success(let id, _) = self { return id }
    return nil
  }

  /// The outcome in a response for several rows, where an error with status 404 becomes an error of
  /// the reference.
  var ofReference: RowOutcome {
    guard case .failure(let errors) = self else { return self }
    return .failure(
      errors.map {
        $0.code != "NOT_FOUND"
          ? $0
          : OrgError(
            code: "INVALID_CROSS_REFERENCE_KEY", message: "invalid cross reference id")
      })
  }

  /// The errors of a refused row.
  package var errors: [OrgError] {
    if case .failure(let errors) = self { return errors }
    return []
  }
}
