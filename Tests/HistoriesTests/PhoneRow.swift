import JSON

struct RowID: Sendable, Hashable, CustomStringConvertible {
  var soup: String
  var entry: Int64
  var description: String { "\(soup) row \(entry)" }
}

struct Change: Sendable, Hashable {
  var number: Int
  var step: Int
  var phone: Int
  var state: Int
  var row: RowID
  var recordID: String?
  var field: String
  var isListed: Bool
  var value: String
  /// The field's value when the row was clean.
  var issued: String?
  /// When the phone's bundle was made, in the org's time.
  var bundle: Int64
  /// For a redelivered row, the changes that it was issued with.
  var after: Set<Int> = []
  /// The app's record of the row's `__last_error__` that it has shown.
  var words = ""
}

/// A row in the book: the changes to it since it was clean.
struct PhoneRow: Sendable, Hashable {
  enum Operation: String, Sendable, Hashable { case create, update, delete, dropped }

  var id: RowID
  var serverID: String?
  /// The marker's value in a row created on the phone.
  var marker: String?
  var issued: [String: String]
  /// The whole element as it was before.
  var before: JSONObject
  var changed: [String: (value: String, change: Int)] = [:]
  /// The numbers of the changes that a later one of the same field has replaced since it was clean.
  var replaced: Set<Int> = []
  var isDeleted = false
  var date: Int64 = 0
  /// For a redelivered row, the changes that it was issued with.
  var came: Set<Int>?
  /// The account of a contact.
  var parent: String?
  /// The account that a moved contact had before.
  var formerParent: String?

  /// The record, by its ID or by the marker of the phone that created it.
  var record: String { serverID ?? marker ?? "" }

  /// The numbers of all changes since it was clean, which a revert takes back.
  var allChanges: Set<Int> { replaced.union(changed.values.map(\.change)) }

  mutating func change(_ field: String, to value: String, number: Int) {
    if let before = changed[field] { replaced.insert(before.change) }
    changed[field] = (value, number)
  }

  func isSameWork(as other: PhoneRow) -> Bool {
    record == other.record && isDeleted == other.isDeleted
      && changed.mapValues(\.value) == other.changed.mapValues(\.value)
  }

  /// Whether a row issued as open is the open remainder of another one.
  ///
  /// A recreated record then has another ID, and values are unique to a change.
  func isLeft(of other: PhoneRow) -> Bool {
    (record == other.record || !changed.isEmpty) && isDeleted == other.isDeleted
      && changed.allSatisfy { other.changed[$0.key]?.value == $0.value.value }
      && (!changed.isEmpty || isDeleted || other.changed.isEmpty)
  }

  /// Whether a row is as it was issued, as the open remainder of another one.
  func isRemainder(of other: PhoneRow) -> Bool {
    came == Set(changed.values.map(\.change)) && isLeft(of: other)
  }

  var operation: Operation {
    switch (marker != nil, isDeleted) {
    case (true, true): .dropped
    case (true, false): .create
    case (false, true): .delete
    case (false, false): .update
    }
  }

  func hasContent(of other: PhoneRow) -> Bool {
    date == other.date && isDeleted == other.isDeleted
      && changed.mapValues(\.value) == other.changed.mapValues(\.value)
  }

  static func == (left: PhoneRow, right: PhoneRow) -> Bool {
    left.id == right.id && left.hasContent(of: right)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

struct ReturnedFile: Sendable {
  var file: String
  var path: String
  var phone: Int
  var step: Int
  var state: Int
  /// The installation's number among all; a restored phone has that of its backup.
  var installation: Int
  var marksInstall: Bool
  var number: Int
  var rows: [RowID: PhoneRow]
  var isCopy = false
  var sent: [RowID: Phone.Sent] = [:]
  /// The rows issued as open that were changed or deleted since.
  var fixed: [PhoneRow] = []
  var asIssued: [RowID: PhoneRow] = [:]
  /// The index of the first run that ingested it.
  var taken: Int?
}
