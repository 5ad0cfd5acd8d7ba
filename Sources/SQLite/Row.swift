/// The current row of a statement, readable only inside the closure that receives it.
package struct Row: ~Copyable {
  let statement: Statement

  package var count: Int { Int(statement.columnCount) }

  /// The value of a column in its storage class.
  package subscript(_ index: Int) -> SQLiteValue { statement.column(Int32(index)) }

  /// An integer; 0 for NULL.
  package func integer(_ index: Int) -> Int64 { statement.columnInteger(Int32(index)) }

  /// A double; 0 for NULL.
  package func real(_ index: Int) -> Double { statement.columnReal(Int32(index)) }

  /// Text; nil for NULL.
  package func text(_ index: Int) -> String? { statement.columnText(Int32(index)) }

  /// The bytes of a text or blob, valid only inside the closure that received the row.
  package func bytes(_ index: Int) -> UnsafeRawBufferPointer {
    statement.columnBytes(Int32(index))
  }

  package func isNull(_ index: Int) -> Bool { statement.isNull(Int32(index)) }

  package func name(_ index: Int) -> String { statement.columnName(Int32(index)) }

  package var names: [String] { statement.columnNames }

  package var values: [SQLiteValue] { statement.row }
}
