import JSON

/// A row of a phone's store, by soup and `_soupEntryId`.
struct RowID: Sendable, Hashable, CustomStringConvertible {
  var soup: String
  var entry: Int64

  var description: String { "\(soup) row \(entry)" }
}

/// What somebody did to one field.
struct Change: Sendable, Hashable {
  var number: Int
  var step: Int
  var phone: Int
  /// The state of the phone that the change made.
  var state: Int
  var row: RowID
  /// The record, where the phone knew its id.
  var recordID: String?
  var field: String
  var isListed: Bool
  /// A value that nothing else writes.
  var value: String
  /// What stood in the field when the row was clean.
  var issued: String?
  /// When the phone's bundle was made, by the org's clock.
  var bundle: Int64
  /// The changes that the row came with, where its bundle carried it.
  var after: Set<Int> = []
  /// What the app says that it has shown of the row's `__last_error__`.
  var words = ""
}

/// A row as the histories' own book knows it: what was done to it since it was clean.
struct PhoneRow: Sendable, Hashable {
  enum Operation: String, Sendable, Hashable { case create, update, delete, dropped }

  var id: RowID
  /// The id in the org that the element had before.
  var serverID: String?
  /// The value of the marker of a row that was made on the phone.
  var marker: String?
  var issued: [String: String]
  /// The whole element as it was before.
  var before: JSONObject
  /// The fields that were changed here, with their values now, and the numbers of the changes.
  var changed: [String: (value: String, change: Int)] = [:]
  var isDeleted = false
  /// `_soupLastModifiedDate`.
  var date: Int64 = 0
  /// The changes that the row came with, where the bundle carried it.
  var came: Set<Int>?
  /// The account of a contact.
  var parent: String?

  /// The record, by its Id or by the marker of the phone that made it.
  var record: String { serverID ?? marker ?? "" }

  /// Whether two rows are of one record and hold the same.
  func isSameWork(as other: PhoneRow) -> Bool {
    record == other.record && isDeleted == other.isDeleted
      && changed.mapValues(\.value) == other.changed.mapValues(\.value)
  }

  /// Whether a row that came open is what is left open of another one; a record that was made anew has
  /// another Id then, and no two changes have one value.
  func isLeft(of other: PhoneRow) -> Bool {
    (record == other.record || !changed.isEmpty) && isDeleted == other.isDeleted
      && changed.allSatisfy { other.changed[$0.key]?.value == $0.value.value }
      && (!changed.isEmpty || isDeleted || other.changed.isEmpty)
  }

  var operation: Operation {
    switch (marker != nil, isDeleted) {
    case (true, true): .dropped
    case (true, false): .create
    case (false, true): .delete
    case (false, false): .update
    }
  }

  /// Whether the contents of two rows are the same.
  func hasContent(of other: PhoneRow) -> Bool {
    date == other.date && isDeleted == other.isDeleted
      && changed.mapValues(\.value) == other.changed.mapValues(\.value)
  }

  static func == (left: PhoneRow, right: PhoneRow) -> Bool {
    left.id == right.id && left.hasContent(of: right)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A file that was put into the inbox.
struct HandedBack: Sendable {
  var file: String
  var path: String
  var phone: Int
  var step: Int
  /// The state of the phone.
  var state: Int
  /// Which of all installations; a restored phone has that of its backup.
  var installation: Int
  var marksInstall: Bool
  var number: Int
  /// The dirty rows.
  var rows: [RowID: PhoneRow]
  var isCopy = false
  /// The rows that the phone has made and sent by itself.
  var sent: [RowID: Phone.Sent] = [:]
  /// The rows that came open with the bundle and are other than they came, or gone.
  var mended: [PhoneRow] = []
  /// The rows that are as they came.
  var asIssued: [RowID: PhoneRow] = [:]
  /// The first run that has taken it, by its place.
  var taken: Int?
}
