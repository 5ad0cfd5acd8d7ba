extension LedgerSchema {
  /// What is left of an edit whose values are gone, as they are old: `pruned` is the digest of what its user
  /// had entered (`ElementContent.value`), by which the same is known again; null while the element is there.
  static let keeping = [
    "ALTER TABLE edit ADD COLUMN pruned TEXT",
    "CREATE INDEX edit_unpruned ON edit (return_id) WHERE pruned IS NULL",
  ]
}
