import JSON
import Salesforce

/// A write that left and was not answered, as a journal has noted it.
package struct PendingWrite: Sendable, Hashable {
  /// What was asked of the org.
  package var action: SyncUpAction
  /// The sObject type.
  package var objectType: String
  /// Who sent it; nil where a ledger of an earlier version does not tell.
  package var userID: String?
  /// The record that was meant; nil for a new one.
  package var recordID: String?
  /// The unique field that names the record: an upsert's, or the correlation field of a create.
  package var externalField: String?
  /// Its value.
  package var externalValue: String?
  /// What was sent.
  package var fields: JSONObject
  /// Of an upsert: the record of its external id as it was read before, null for none; nil where
  /// that is not known.
  package var seen: JSONValue?
  /// The org's clock before it was sent: nothing was made earlier.
  package var since: Int64
  /// The org's clock when it was sent, as well as that is known.
  package var sent: Int64
  /// Whether nobody noted that it was sent: it may have been, at any time from `since` to `sent`.
  package var isPresumed = false
  /// Others who may have sent it, where nobody knows who did.
  package var otherSenders: [String] = []
  /// Whether another state of it may have been sent before.
  package var isRevised = false
  /// The bulk job that carries it; nil for a request of its own.
  package var job: String?

  /// A write.
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
    self.sent = sent
  }
}
