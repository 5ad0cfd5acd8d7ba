import JSON
import Salesforce

/// A write that was sent without a response, as recorded in a journal.
package struct PendingWrite: Sendable, Hashable {
  package var action: SyncUpAction
  package var objectType: String
  /// The sender; nil if it is unknown.
  package var userID: String?
  /// The record to change; nil for a new one.
  package var recordID: String?
  /// The unique field that identifies the record: an upsert's key, or the correlation field of a
  /// create.
  package var externalField: String?
  package var externalValue: String?
  package var fields: JSONObject
  /// For an upsert, the record with its external ID as it was read before, null for none; nil if
  /// unknown.
  package var seen: JSONValue?
  /// The org's time before the write was sent; nothing was created before it.
  package var since: Int64
  /// The org's time when the write was sent, as far as known.
  package var sent: Int64
  /// The latest time at which it can have arrived, in milliseconds of the org's time.
  package var until: Int64
  /// Whether that time has passed; before it, only a record that agrees in full matches.
  package var isOver = true
  /// How far `since` may be ahead of the dates of the org's records, in milliseconds; 0 if the
  /// org's responses and records use the same clock.
  var ahead: Int64 = 0
  /// Whether there is no record of the sending: it may have been sent at any time from `since` to
  /// `sent`.
  ///
  /// Only a record with everything that would have been sent matches it.
  package var isPresumed = false
  /// Other possible senders, if the sender is unknown.
  package var otherSenders: [String] = []
  /// Whether another state of it may have been sent before, so that a record of its sender may come
  /// from that state.
  package var isRevised = false
  /// The bulk job in which it was sent; nil for an ordinary request.
  package var job: String?

  package init(
    _ action: SyncUpAction, _ objectType: String, userID: String?, recordID: String? = nil,
    externalField: String? = nil, externalValue: String? = nil, fields: JSONObject,
    seen: JSONValue? = nil, since: Int64, sent: Int64
  ) {
    self.action = action
    self.objectType = objectType
    self.userID = userID
    self.recordID = recordID
    self.externalField = externalField
    self.externalValue = externalValue
    self.fields = fields
    self.seen = seen
    self.since = since
    (self.sent, until) = (sent, sent)
  }
}
