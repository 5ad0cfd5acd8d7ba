/// What became of one row of a write.
package enum RowOutcome: Sendable, Hashable {
  /// The row was written.
  case success(id: String, created: Bool)
  /// The row was refused; nothing of it was written.
  case failure([OrgError])

  /// The id of a written row.
  package var id: String? {
    if case .success(let id, _) = self { return id }
    return nil
  }

  /// The errors of a refused row.
  package var errors: [OrgError] {
    if case .failure(let errors) = self { return errors }
    return []
  }
}
