import JSON
import SQLite
import System

/// The reason a store operation failed.
///
/// No case contains a value of an element, as errors are written to logs and reports.
public enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// SQLite failed; `code` is its extended result code.
  case database(path: String, code: Int32, message: String)
  /// The file is a database, but not a SmartStore of either platform.
  case notAStore(path: String, reason: String)
  /// The store's own tables contradict each other.
  case damaged(path: String, reason: String)
  /// A device was interrupted while altering a soup.
  case interrupted(path: String, soup: String)
  /// Another process has used the store for longer than the time limit.
  case inUse(path: String, by: String, seconds: Int)
  /// The lock next to the store cannot be acquired.
  case lock(path: String, reason: String)
  /// The queue of the store was closed.
  case closed(path: String)
  /// A soup needs a name.
  case emptySoupName
  /// A soup needs at least one index.
  case noIndexSpecs(soup: String)
  /// The SDKs interpret two indexes on one path differently.
  case duplicatePath(soup: String, path: String)
  /// An index that no app could work with.
  case unusableIndex(soup: String, path: String, reason: String)
  /// An index needs a path.
  case emptyPath(soup: String)
  /// No soup with this name is registered.
  case unknownSoup(String)
  /// The operation needs an index on the path, and there is none.
  case noIndex(soup: String, path: String)
  /// An element to upsert has no external ID.
  case externalIDMissing(soup: String, path: String, element: Int)
  /// Several elements have the external ID of an element to upsert.
  case externalIDNotUnique(soup: String, path: String, element: Int)
  /// No element has this soup entry ID.
  case noSuchEntry(soup: String, soupEntryID: Int64)
  /// The value to store is not a JSON object.
  case invalidElement(soup: String, element: Int, reason: String)
  /// An element does not decode as the requested type.
  case notDecodable(soup: String, element: Int, reason: String)
  /// A downloaded record has no ID.
  case recordWithoutID(soup: String, record: Int, path: String)
  /// A page of records could not be parsed.
  case invalidPage(soup: String, reason: String)
  /// Smart SQL that does not only read, with its text.
  case notSelect(String)
  /// Smart SQL with an invalid reference in braces.
  case invalidReference(String, position: Int, reason: String)
  /// An invalid query spec.
  case invalidQuery(String)

  /// The path of a file that is not a plain database; nil for another error.
  package var unreadablePath: String? {
    guard case .database(let path, let code, let message) = self else { return nil }
    let error = SQLiteError(code: code, message: message, path: path)
    return error.isNotADatabase ? path : nil
  }

  /// Whether the error is caused by a page of records, not by the store.
  package var isAboutPage: Bool {
    switch self {
    case .recordWithoutID, .invalidPage: true
    default: false
    }
  }

  /// Whether the file is damaged, or not a store.
  package var isDamage: Bool {
    switch self {
    case .damaged, .notAStore: true
    case .database(let path, let code, _): SQLiteError(code: code, path: path).isDamage
    default: false
    }
  }

  /// Whether the store's disk is full.
  package var isFull: Bool {
    guard case .database(let path, let code, _) = self else { return false }
    return SQLiteError(code: code, path: path).isFull
  }

  /// The fault, its location and what to do.
  public var description: String {
    switch self {
    case .database, .notAStore, .damaged, .interrupted, .inUse, .lock, .closed: fileDescription
    case .emptySoupName: "a soup needs a name; give it one"
    case .noIndexSpecs(let soup):
      "soup \"\(soup)\" has no index; a soup needs at least one index spec"
    case .duplicatePath(let soup, let path):
      "soup \"\(soup)\" has two indexes on \"\(path)\"; keep one, the platforms interpret two differently"
    case .unusableIndex(let soup, let path, let reason):
      "the index of soup \"\(soup)\" on \"\(path)\" cannot be used: \(reason)"
    case .emptyPath(let soup): "an index of soup \"\(soup)\" has no path; write one"
    case .unknownSoup(let soup): "there is no soup \"\(soup)\"; register it, or correct the name"
    case .noIndex(let soup, let path):
      "soup \"\(soup)\" has no index on \"\(path)\"; add an index spec for it"
    case .externalIDMissing, .externalIDNotUnique, .noSuchEntry, .invalidElement, .notDecodable,
      .recordWithoutID, .invalidPage:
      elementDescription
    case .notSelect(let statement): Self.words(forNotSelect: statement)
    case .invalidReference(let text, let position, let reason):
      "Smart SQL: {\(text)} at character \(position + 1): \(reason)"
    case .invalidQuery(let reason): reason
    }
  }

  private static func words(forNotSelect statement: String) -> String {
    let text = statement.trimmed
    if text.isEmpty { return "the query is empty: Smart SQL reads with SELECT or WITH" }
    let start = text.count > 40 ? String(text.prefix(40)) + "…" : text
    return "Smart SQL reads with SELECT or WITH, and cannot run \"\(start)\""
  }

  private var fileDescription: String {
    switch self {
    case .database(let path, _, let message): "\(path): \(message)"
    case .notAStore(let path, let reason): "\(path) is not a SmartStore: \(reason)"
    case .damaged(let path, let reason): "\(path) is damaged: \(reason)"
    case .interrupted(let path, let soup):
      "\(path): a change of the indexes of soup \"\(soup)\" was interrupted; "
        + "\(SoupAlteration.interruptedFix), which finishes the change in a copy"
    case .inUse(let path, let holder, let seconds):
      "\(path) has been in use by \(holder) for more than \(seconds) s; try again later"
    case .lock(let path, let reason): "\(path) cannot be locked: \(reason)"
    case .closed(let path): "\(path) was closed; create another queue for it"
    default: ""
    }
  }

  private var elementDescription: String {
    switch self {
    case .externalIDMissing(let soup, let path, let element):
      "element \(element) for soup \"\(soup)\" has no value at its external id path \"\(path)\""
    case .externalIDNotUnique(let soup, let path, let element):
      "several elements of soup \"\(soup)\" have the \"\(path)\" of element \(element); "
        + "remove all but one"
    case .noSuchEntry(let soup, let id):
      "soup \"\(soup)\" has no element with _soupEntryId \(id); omit the member to insert"
    case .invalidElement(let soup, let element, let reason):
      "element \(element) for soup \"\(soup)\" is not a JSON object: \(reason)"
    case .notDecodable(let soup, let element, let reason):
      "element \(element) of a page of soup \"\(soup)\" does not decode as the requested type: "
        + reason
    case .recordWithoutID(let soup, let record, let path):
      "record \(record) of a page for soup \"\(soup)\" has neither text nor a number at \"\(path)\""
    case .invalidPage(let soup, let reason):
      "a page of records for soup \"\(soup)\" cannot be read: \(reason)"
    default: ""
    }
  }

  /// Creates the error for a failure of SQLite; for a file that is neither a plain nor a sealed
  /// database, that it is not a store.
  init(_ error: SQLiteError) {
    if error.isNotADatabase, (try? StoreFileHeader.isOtherKind(error.path)) == true {
      self = .notAStore(path: error.path, reason: StoreFileHeader.otherKind)
    } else {
      self = .database(path: error.path, code: error.code, message: error.explanation)
    }
  }

  /// Creates the error that SQLite would report for a failure of the disk: 13 if it is full, 10
  /// otherwise.
  init(_ error: SystemError, at path: String) {
    self = .database(path: path, code: error.isFull ? 13 : 10, message: error.description)
  }

  /// Runs `body` and wraps errors of lower layers in a `StoreError`.
  package static func mapping<T>(_ body: () throws -> T) throws(StoreError) -> T {
    do {
      return try body()
    } catch let error as StoreError {
      throw error
    } catch let error as SQLiteError {
      throw StoreError(error)
    } catch let error as SystemError {
      throw StoreError(error, at: error.path)
    } catch let error as JSONError {
      throw .invalidQuery(error.description)
    } catch {
      throw .invalidQuery("\(error)")
    }
  }
}
