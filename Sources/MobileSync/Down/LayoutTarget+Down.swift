import JSON
import Salesforce
import SmartStore

extension LayoutTarget: AnswerTarget {
  /// The soup in which the SDKs store layouts.
  package static let soupName = "sfdcLayouts"

  package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let session = try await context.session()
    try context.checkStop()
    let answer = try await SyncError.inOrg {
      try await session.layout(
        sobjectType, formFactor: formFactor?.rawValue, layoutType: layoutType.rawValue,
        mode: mode?.rawValue, recordTypeID: recordTypeId)
    }
    let ids = context.platforms.map { (platform: $0, id: id(on: $0)) }
    let isCommon = Set(ids.map(\.id)).count == 1
    let parts = (isCommon ? Array(ids.prefix(1)) : ids).map { platform, id in
      SyncPage.Part(
        destination(context.soupName), bytes: AnswerElement.bytes(answer, id: id),
        container: .array, platform: isCommon ? nil : platform)
    }
    return SingleAnswer(parts, totalSize: 1)
  }

  /// The ID under which a platform's SDK looks up a layout.
  func id(on platform: Platform) -> String {
    let nothing = platform == .ios ? "(null)" : "null"
    return [
      sobjectType, formFactor?.rawValue ?? nothing, layoutType.rawValue,
      mode?.rawValue ?? nothing, recordTypeId ?? nothing,
    ].joined(separator: "-")
  }
}
