/// The row that a statement stands on; it can be read only while it is handed out.
package struct Row: ~Copyable {
  let statement: Statement

  /// The number of columns.
  package var count: Int { Int(statement.columnCount) }

  /// A value in its own storage class.
  package subscript(_ index: Int) -> SQLiteValue { statement.column(Int32(index)) }

  /// An integer; 0 for NULL.
  package func integer(_ index: Int) -> Int64 { statement.columnInteger(Int32(index)) }

  /// A double; 0 for NULL.
  package func real(_ index: Int) -> Double { statement.columnReal(Int32(index)) }

  /// Text; nil for NULL.
  package func text(_ index: Int) -> String? { statement.columnText(Int32(index)) }

  /// The bytes of text or of a blob; they hold only inside the body that got the row.
  package func bytes(_ index: Int) -> UnsafeRawBufferPointer {
    statement.columnBytes(Int32(index))
  }

  /// Says whether a value is NULL.
  package func isNull(_ index: Int) -> Bool { statement.isNull(Int32(index)) }

  /// The name of a column.
  package func name(_ index: Int) -> String { statement.columnName(Int32(index)) }

  /// The names of all columns.
  package var names: [String] { statement.columnNames }

  /// All values.
  package var values: [SQLiteValue] { statement.row }
}
