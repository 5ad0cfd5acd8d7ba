extension LedgerSchema {
  /// The remainder of a pruned edit.
  ///
  /// `pruned` is the digest of what its user had entered (`ElementContent.value`), which identifies
  /// the same edit when it returns; null while the element is stored.
  static let keeping = [
    "ALTER TABLE edit ADD COLUMN pruned TEXT",
    "CREATE INDEX edit_unpruned ON edit (return_id) WHERE pruned IS NULL",
  ]
}
