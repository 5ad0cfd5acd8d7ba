import JSON
import MobileSync
import System

extension SyncState {
  /// The state with the SDK's members, for events and answers.
  var document: JSONValue {
    var object: JSONObject = ["syncId": JSONValue(id)]
    for (name, value) in element.object ?? JSONObject() where name != "_soupEntryId" {
      object[name] = value
    }
    return .object(object)
  }

  /// When the last run ended, or started if it has not ended; empty before the first run.
  var lastRun: String {
    let time = endTime > 0 ? endTime : startTime
    return time > 0 ? Dates.utcSeconds(time) : ""
  }

  /// Where an incremental run continues; empty before a full run.
  var cursor: String { maxTimeStamp > 0 ? Dates.utc(maxTimeStamp) : "" }
}
